import { describe, expect, test } from '@jest/globals';
import { sourceProblem } from '../../../../app/tables/mapping/unusable-source.ts';
import { formattedTables } from '../../../../settings/sections/formats.ts';

type Settings = Parameters<typeof formattedTables>[0];
type Given = Settings['formats'][string];

const entry = (topic: readonly string[]) =>
  ({ topic, table: 'public.t', fields: 'same', columns: {} }) as unknown as Settings['tables'][number];

const KINDS = ['bytea', 'integer', 'text', 'json'] as const;
const WHOLE = { kind: 'field', path: [] } as const;

/** Kinds of columns that are refused the whole value of topics of these formats. */
function refused(...formats: readonly Given[]): readonly string[] {
  const byTopic = Object.fromEntries(formats.map((format, nth) => [`topic-${nth}`, format]));
  const [table] = formattedTables({ formats: byTopic, tables: [entry(Object.keys(byTopic))] });
  const whole = table?.wholeValue ?? 'object';
  return KINDS.filter(
    (kind) => sourceProblem('c', { from: '$value' }, WHOLE, { type: { kind, name: kind }, whole }).length > 0,
  );
}

describe('the whole value', () => {
  test.each<[string, readonly Given[], readonly string[]]>([
    ['bytes', ['bytes'], ['integer']],
    ['a text', ['text'], []],
    ['a text of one topic and bytes of another', ['text', { value: 'bytes' }], []],
    ['JSON', ['json'], ['bytea', 'integer']],
    ['JSON behind bytes for keys', [{ key: 'bytes' }], ['bytea', 'integer']],
    ['what a schema of the registry says', ['registry'], ['integer']],
    ['what a schema of the registry says, or JSON', [{ value: ['registry', 'json'] }], ['integer']],
    ['what a file of Avro says', [{ value: { avro: 'a.avsc' } }], ['integer']],
    ['a message of Protobuf', [{ value: { protobuf: 'a.proto' } }], ['bytea', 'integer']],
    ['what a schema says of one topic and JSON of another', ['registry', 'json'], ['integer']],
    ['bytes of one topic and JSON of another', ['bytes', 'json'], ['bytea', 'integer']],
  ])('that is %s', (_, formats, kinds) => {
    expect(refused(...formats)).toEqual(kinds);
  });

  test('is named by what it is', () => {
    const type = { kind: 'integer', name: 'bigint' } as const;
    expect(sourceProblem('c', { from: '$value' }, WHOLE, { type, whole: 'bytes' })).toEqual([
      {
        path: 'c',
        message: 'takes the whole value, bytes, and is of the type bigint',
        given: '$value',
        allowed: 'a column of type bytea, json or jsonb, text',
      },
    ]);
  });
});
