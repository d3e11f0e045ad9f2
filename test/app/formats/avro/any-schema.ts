import fc from 'fast-check';
import {
  type AnySchema,
  type AnyValue,
  anyName,
  both,
  declared,
  LOGICAL_SCHEMAS,
  SIMPLE_SCHEMAS,
} from './leaf-schemas.ts';

const FIELD_NAMES = ['a', 'b', 'c', 'id', 'Name', '_x', 'list', 'next'];
const KEYS = ['a', 'b', 'c', '', '\u2028', 'Zoë', 'a"b', '\\', '\n'];

const list = (values: readonly AnyValue[]): AnyValue => ({
  avsc: values.map(({ avsc }) => avsc),
  iso: `[${values.map(({ iso }) => iso).join()}]`,
  raw: `[${values.map(({ raw }) => raw).join()}]`,
});

const object = (values: readonly (readonly [string, AnyValue])[]): AnyValue => ({
  avsc: Object.fromEntries(values.map(([name, { avsc }]) => [name, avsc])),
  iso: `{${values.map(([name, { iso }]) => `${JSON.stringify(name)}:${iso}`).join()}}`,
  raw: `{${values.map(([name, { raw }]) => `${JSON.stringify(name)}:${raw}`).join()}}`,
});

/** As a union has it. */
const inBranch = ({ avsc, iso, raw }: AnyValue, branch: string): AnyValue => ({
  avsc: branch === 'null' ? avsc : { [branch]: avsc },
  iso,
  raw,
});

/** Every kind of type, within each other. */
export const anySchema: fc.Arbitrary<AnySchema> = fc.letrec<{ schema: AnySchema; record: AnySchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, depthSize: 'medium', withCrossShrink: true },
    { weight: 6, arbitrary: fc.constantFrom(...SIMPLE_SCHEMAS, ...LOGICAL_SCHEMAS) },
    { weight: 3, arbitrary: declared },
    { weight: 4, arbitrary: tie('record') },
    {
      weight: 3,
      arbitrary: fc.oneof(tie('schema'), fc.constantFrom(...LOGICAL_SCHEMAS)).map((items) => ({
        schema: { type: 'array', items: items.schema },
        values: fc.array(items.values, { maxLength: 5 }).map(list),
        branch: 'array',
      })),
    },
    {
      weight: 2,
      arbitrary: tie('schema').map((items) => ({
        schema: { type: 'map', values: items.schema },
        values: fc
          .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), items.values), { maxLength: 4, selector: ([key]) => key })
          .map(object),
        branch: 'map',
      })),
    },
    {
      weight: 3,
      arbitrary: fc
        .uniqueArray(
          tie('schema').filter(({ branch }) => branch !== 'union'),
          { minLength: 1, maxLength: 4, selector: ({ branch }) => branch },
        )
        .map((branches) => ({
          schema: branches.map(({ schema }) => schema),
          values: fc.oneof(...branches.map((each) => each.values.map((value) => inBranch(value, each.branch)))),
          branch: 'union',
        })),
    },
  ),
  record: fc
    .tuple(
      fc.uniqueArray(fc.tuple(fc.constantFrom(...FIELD_NAMES.slice(0, -1)), tie('schema')), {
        maxLength: 6,
        selector: ([name]) => name,
      }),
      fc.boolean(),
    )
    .map(([fields, isRecursive]) => recordOf(fields, isRecursive)),
})).schema;

/** A record, and one that may have another of itself in its last field. */
function recordOf(fields: readonly (readonly [string, AnySchema])[], isRecursive: boolean): AnySchema {
  const { fullName, ...name } = anyName();
  const own = fields.map(([field, { schema }]) => ({ name: field, type: schema }));
  const next = isRecursive ? [{ name: 'next', type: ['null', fullName] }] : [];
  const flat = fc
    .tuple(...fields.map(([field, { values }]) => values.map((value) => [field, value] as const)))
    .map((members): readonly (readonly [string, AnyValue])[] => members);
  const END = ['next', both(null, 'null')] as const;
  const values = isRecursive
    ? fc
        .array(flat, { minLength: 1, maxLength: 3 })
        .map((links) =>
          links
            .slice(1)
            .reduceRight<AnyValue>(
              (inner, link) => object([...link, ['next', inBranch(inner, fullName)]]),
              object([...(links[0] ?? []), END]),
            ),
        )
    : flat.map(object);
  return {
    schema: { type: 'record', ...name, namespace: name.namespace ?? '', fields: [...own, ...next] },
    values,
    branch: fullName,
  };
}
