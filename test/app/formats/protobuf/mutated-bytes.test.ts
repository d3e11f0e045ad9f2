import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { IS_LONG_RUN } from '../../../integration/stack/long-test.ts';
import { mutated, numbers, requireSound } from '../mutations.ts';
import { GOLDEN_PATHS, GOLDEN_SCHEMA, GOLDEN_VALUE } from './golden-values.ts';
import { readerOf } from './read-message.ts';

const MUTATIONS = IS_LONG_RUN ? 100_000 : 2_000;

/** Reads bytes. @returns why they are refused; `null` where they are not */
function reader(): (bytes: Buffer) => string | null {
  const { fields, read } = readerOf(GOLDEN_SCHEMA, GOLDEN_PATHS);
  return (bytes) => {
    const answer = read(bytes);
    for (const place of GOLDEN_PATHS.keys()) {
      const slice = fields.of(place);
      if (slice !== undefined) {
        requireSound(slice);
      }
    }
    return Array.isArray(answer) ? null : (fields.words ?? '');
  };
}

test('mutated bytes are refused, or are another value; nothing is thrown', () => {
  const read = reader();
  expect(read(GOLDEN_VALUE)).toBeNull();
  const below = numbers(1);
  const outcomes = new Set<boolean>();
  for (let left = MUTATIONS; left > 0; left -= 1) {
    outcomes.add(read(mutated(GOLDEN_VALUE, below)) === null);
  }
  expect([...outcomes].sort()).toEqual([false, true]);
}, 600_000);

/** Mutated bytes of the golden value, each of which had an outcome that none before had, or none of its length. */
const corpus = readFileSync(join(import.meta.dirname, 'corpus.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { readonly bytes: string; readonly refused: string | null });

test('mutated bytes that were found before have the outcomes that they had', () => {
  const read = reader();
  for (const { bytes, refused } of corpus) {
    expect([bytes, read(Buffer.from(bytes, 'base64'))]).toEqual([bytes, refused]);
  }
  expect(new Set(corpus.map(({ refused }) => refused?.replace(/^.*: /, ''))).size).toBeGreaterThan(7);
});
