import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { AvroFields } from '../../../../app/formats/avro/avro-fields.ts';
import { AvroProgram } from '../../../../app/formats/avro/avro-program.ts';
import { IS_LONG_RUN } from '../../../integration/stack/long-test.ts';
import { mutated, numbers, requireSound } from '../mutations.ts';
import { type GoldenValue, goldenValues } from './golden-values.ts';

/** Of each of some 30 golden values. */
const MUTATIONS = IS_LONG_RUN ? 10_000 : 400;

/** A reader of all that is taken of a golden value. @returns why bytes are refused; `null` where they are not */
function readerOf({ schema, paths }: GoldenValue): (bytes: Buffer) => string | null {
  const fields = new AvroFields();
  const program = new AvroProgram(schema, paths);
  return (bytes) => {
    const reason = fields.read(program, bytes, 0, bytes.length);
    for (const place of paths.keys()) {
      const slice = fields.of(place);
      if (slice !== undefined) {
        requireSound(slice);
      }
    }
    return reason === null ? null : (fields.words ?? '');
  };
}

test('mutated bytes are refused, or are another value; nothing is thrown', () => {
  for (const [nth, golden] of goldenValues().entries()) {
    const read = readerOf(golden);
    expect(read(golden.bytes)).toBeNull();
    const below = numbers(nth + 1);
    const outcomes = new Set<boolean>();
    for (let left = MUTATIONS; left > 0; left -= 1) {
      outcomes.add(read(mutated(golden.bytes, below)) === null);
    }
    expect([...outcomes].sort()).toEqual([false, true]);
  }
}, 600_000);

/** Mutated bytes of the golden values, each of which had an outcome that none before had, or none of its length. */
const corpus = readFileSync(join(import.meta.dirname, 'corpus.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { readonly id: number; readonly bytes: string; readonly refused: string | null });

test('mutated bytes that were found before have the outcomes that they had', () => {
  const readers = new Map(goldenValues().map((golden) => [golden.schema.id, readerOf(golden)]));
  for (const { id, bytes, refused } of corpus) {
    expect([id, bytes, readers.get(id)?.(Buffer.from(bytes, 'base64'))]).toEqual([id, bytes, refused]);
  }
  expect(new Set(corpus.map(({ refused }) => refused?.replace(/^.*: /, ''))).size).toBeGreaterThan(9);
});
