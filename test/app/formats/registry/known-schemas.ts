import type { RegisteredSchema, Schemas, UnusableSchema } from '../../../../app/formats/registry/schemas.ts';

/** A registry that has answered about these ids already, and about no others. */
export function knownSchemas(...known: readonly (RegisteredSchema | UnusableSchema)[]): Schemas {
  const byId = new Map(known.map((schema) => [schema.id, schema]));
  return {
    of: (id) => byId.get(id),
    fetch: async (ids) => {
      const missing = [...ids].filter((id) => !byId.has(id));
      if (missing.length > 0) {
        throw new Error(`the test knows no schema ${missing.join(', ')}`);
      }
    },
  };
}
