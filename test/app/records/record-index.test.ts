import { expect, test } from '@jest/globals';
import { packRecords } from '../../../app/records/pack-records.ts';
import type { RecordBatch } from '../../../app/records/record-batch.ts';
import { RecordIndex } from '../../../app/records/record-index.ts';
import { aRecord } from '../stream/records.ts';

const HEADERS = [
  { key: 'trace', value: Buffer.from('abc') },
  { key: 'none', value: null },
  { key: '', value: Buffer.alloc(0) },
];

/** Reads a batch once more. @returns `null` for each time that it was not read to its end, then the batch */
function readSteps({ bytes, length, base }: RecordBatch, observer?: Parameters<RecordIndex['readOn']>[0]) {
  const index = new RecordIndex(bytes, length, base);
  const steps = [index.readOn(observer)];
  while (steps.at(-1) === null) {
    steps.push(index.readOn(observer));
  }
  return steps;
}

test('each header is shown with the place of its key, and each record once', () => {
  const shown: unknown[] = [];
  const batch = packRecords([aRecord(0n, { headers: HEADERS }), aRecord(1n)]);
  readSteps(batch, {
    record: () => shown.push('record'),
    header: (at, length, valueLength) => shown.push([batch.bytes.toString('utf8', at, at + length), valueLength]),
  });
  expect(shown).toEqual(['record', ['trace', 3], ['none', -1], ['', 0], 'record']);
});

test.each([
  ['256 records', 256, 0, 1],
  ['257 records', 257, 0, 2],
  ['a record with 256 headers', 1, 256, 1],
  ['a record with 257 headers', 1, 257, 2],
  ['a record with 1,000 headers', 1, 1_000, 4],
])('reading %s takes as many steps as keep the event loop free', (_, records, headers, steps) => {
  const fields = { headers: Array.from({ length: headers }, () => ({ key: 'k', value: null })) };
  const batch = packRecords(Array.from({ length: records }, (_unused, nth) => aRecord(BigInt(nth), fields)));
  const read = readSteps(batch);
  expect(read.length).toBe(steps);
  expect(read.at(-1)?.record(0)).toEqual(aRecord(0n, fields));
});
