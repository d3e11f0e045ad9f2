import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { CrdSource, OpenApiSource } from './schema-sources.ts';
import { type Schema, strictDefinitions, strictSchema } from './strict-schema.ts';

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** The schemas of one source as they are kept: by `apiVersion/kind`, with what they refer to. */
export interface SchemaBundle {
  /** Module and version they were published in. */
  readonly source: string;
  readonly kinds: Readonly<Record<string, unknown>>;
  readonly definitions: Schema;
}

interface Crd {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

/** What Kubernetes publishes about its own kinds; `folder` holds the module. */
export function openApiBundle(folder: string, { module, version, file, kinds }: OpenApiSource): SchemaBundle {
  const { definitions } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { definitions: Schema };
  return {
    source: `${module}@${version}`,
    kinds: Object.fromEntries(Object.entries(kinds).map(([kind, name]) => [kind, { $ref: `#/definitions/${name}` }])),
    definitions: strictDefinitions(definitions, [...Object.values(kinds), OBJECT_META]),
  };
}

/** A CRD leaves `metadata` open; the API server checks it as that of any other object. */
function customResources(text: string): [string, unknown][] {
  const { spec } = parse(text) as Crd;
  return spec.versions.map(({ name, schema: { openAPIV3Schema } }) => {
    const schema = strictSchema(openAPIV3Schema) as Schema;
    const properties = { ...(schema['properties'] as Schema), metadata: { $ref: `#/definitions/${OBJECT_META}` } };
    return [`${spec.group}/${name}/${spec.names.kind}`, { ...schema, properties }];
  });
}

/** What CRDs say about custom resources; `metadata` is described as in `kubernetes`. */
export function crdBundle(folder: string, source: CrdSource, kubernetes: SchemaBundle): SchemaBundle {
  const kinds = source.files.flatMap((file) => customResources(readFileSync(join(folder, file), 'utf8')));
  return {
    source: `${source.module}@${source.version}`,
    kinds: Object.fromEntries(kinds),
    definitions: strictDefinitions(kubernetes.definitions, [OBJECT_META]),
  };
}
