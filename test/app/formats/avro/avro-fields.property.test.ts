import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AvroFields } from '../../../../app/formats/avro/avro-fields.ts';
import { AvroProgram } from '../../../../app/formats/avro/avro-program.ts';
import { kindAt } from '../../../../app/tables/json/json-lexer.ts';
import { JsonScanner } from '../../../../app/tables/json/json-scanner.ts';
import { type JsonSlice, sentJson } from '../../../../app/tables/json/json-slice.ts';
import type { FieldPath } from '../../../../app/tables/mapping/table-mapping.ts';
import { IS_LONG_RUN } from '../../../integration/stack/long-test.ts';
import { anySchema } from './any-schema.ts';
import { AvscOracle } from './avsc-oracle.ts';
import type { AnySchema, AnyValue } from './leaf-schemas.ts';

const RUNS = IS_LONG_RUN ? 5_000 : 300;
const VALUES = 6;

let oracle: AvscOracle;
beforeAll(() => {
  oracle = new AvscOracle();
});
afterAll(() => oracle.stop());

const part = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'b', 'c', 'id', 'Name', '_x', 'list', 'next', '', 'Zoë', 'a"b') },
  { weight: 1, arbitrary: fc.nat(3) },
);
const paths = fc.array(fc.array(part, { maxLength: 4 }), { maxLength: 9 });

const cases = anySchema.chain(({ schema, values }: AnySchema) =>
  fc.record({
    schema: fc.constant(schema),
    values: fc.array(values, { minLength: 1, maxLength: VALUES }),
    paths,
    mapped: fc.array(fc.array(part, { maxLength: 2 }), { maxLength: 3 }),
    row: fc.array(fc.constantFrom('a', 'b', 'next'), { maxLength: 1 }),
  }),
);

const isOfTime = (unit: string | undefined): boolean => unit !== undefined && /^(epoch|time)-/.test(unit);

/** What the scanner finds in the JSON of the value; `raw` where times are numbers. */
function found(scanner: JsonScanner, json: Buffer, place: number): string | undefined {
  const [start, end] = [scanner.start(place), scanner.end(place)];
  return start < 0 ? undefined : json.toString('utf8', start, end);
}

const textOf = (slice: JsonSlice | undefined): string | undefined => slice && sentJson(slice);

/** Bytes with others around them, as a record's are in its batch. */
const amid = (bytes: Buffer) => Buffer.concat([Buffer.from([7, 7, 7]), bytes, Buffer.from([0, 0, 9])]);

function requireSame(
  fields: AvroFields,
  value: AnyValue,
  scanners: readonly JsonScanner[],
  wanted: readonly FieldPath[],
) {
  const [iso, raw] = [Buffer.from(value.iso), Buffer.from(value.raw)];
  expect([scanners[0]?.scan(iso), scanners[1]?.scan(raw)]).toEqual([null, null]);
  wanted.forEach((_, place) => {
    const slice = fields.of(place);
    expect(fields.kindOf(place)).toBe(slice?.kind);
    const isRaw = slice?.kind === 'number' || (slice?.kind === 'list' && isOfTime(fields.units[place]));
    const [scanner, json] = isRaw ? [scanners[1], raw] : [scanners[0], iso];
    expect(textOf(slice)).toBe(scanner && found(scanner, json, place));
    expect(textOf(fields.of(place))).toBe(textOf(slice));
  });
  expect(fields.unmapped).toBe(scanners[0]?.unmappedFields);
  // Which number it is does not matter for what the whole value is, nor which boolean.
  const kind = fields.kind === 'text' ? 'string' : fields.kind.replace('true', 'false');
  expect(kind === 'number' && ENDLESS.test(value.raw) ? 'string' : kind).toBe(kindOfWhole(raw));
}

/** As JSON has those of its numbers that are none of JSON. */
const ENDLESS = /^"(?:NaN|-?Infinity)"$/;

const kindOfWhole = (json: Buffer): string => kindAt(json, 0).replace('true', 'false');

test('parts of any value, which another implementation encoded, are those of its JSON', async () => {
  const kinds = new Set<string>();
  await fc.assert(
    fc.asyncProperty(cases, async ({ schema, values, paths: wanted, mapped, row }) => {
      const reported = { avro: new Set<string | null>(), json: new Set<string | null>() };
      const others = (onUnmapped: (name: string | null) => void) => ({ mapped, row, onUnmapped });
      const program = new AvroProgram(
        { id: 1, text: JSON.stringify(schema), references: [] },
        wanted,
        others((name) => reported.avro.add(name)),
      );
      const scanners = [(name: string | null) => reported.json.add(name), () => undefined].map(
        (report) => new JsonScanner([...wanted, ...mapped], report, row),
      );
      const encoded = await oracle.encode(values.map(({ avsc }) => ({ schema, value: avsc })));
      const fields = new AvroFields();
      values.forEach((value, nth) => {
        const bytes = amid(encoded[nth] ?? Buffer.alloc(0));
        expect([fields.read(program, bytes, 3, bytes.length - 3), fields.words]).toEqual([null, undefined]);
        requireSame(fields, value, scanners, wanted);
        for (const place of wanted.keys()) {
          kinds.add(`${fields.kindOf(place)} ${fields.units[place]}`);
        }
      });
      expect(reported.avro).toEqual(reported.json);
    }),
    { numRuns: RUNS, ...(!IS_LONG_RUN && { seed: 1 }) },
  );
  for (const kind of ['text undefined', 'object json', 'list epoch-days', 'number time-micros', 'true undefined']) {
    expect(kinds).toContain(kind);
  }
});
