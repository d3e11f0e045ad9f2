import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { deadLetterMessage } from '../../app/kafka/dead-letter-producer.ts';
import { DEAD_LETTER_REASONS } from '../../contract/dead-letter-reasons.ts';
import { aRecord } from '../app/stream/records.ts';

const TEXT = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'dead-letters.md'), 'utf8');

test('every reason is explained', () => {
  const explained = [...TEXT.matchAll(/^\| `([a-z0-9_]+)` \| /gm)].map(([, name]) => name);
  expect(explained).toEqual([...DEAD_LETTER_REASONS, 'topic', 'both']);
});

test('every header of a message is named', () => {
  const letter = {
    groupId: 'g',
    topic: 't',
    partition: 0,
    record: aRecord(0n),
    reason: 'invalid_json',
    error: 'e',
  } as const;
  const names = deadLetterMessage(letter).headers.map(({ key }) => key);
  expect(names.filter((name) => !TEXT.includes(`\`${name}\``))).toEqual([]);
  expect(names).toHaveLength(7);
});
