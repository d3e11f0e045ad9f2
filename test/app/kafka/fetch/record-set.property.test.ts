import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { encodeRecord } from '../../../../app/kafka/kafkajs/patches.ts';
import { IS_LONG_RUN } from '../../../integration/stack/long-test.ts';
import { BATCH_HEAD_BYTES, batchOf, checksummed, readSet } from './record-sets.ts';

const RUNS = { numRuns: IS_LONG_RUN ? 5_000 : 60 };

/** Where a batch has the count of its records. */
const COUNT_AT = 57;

const bytes = fc.uint8Array({ maxLength: 12 }).map((content) => Buffer.from(content));
const field = fc.option(bytes, { nil: null });
const header = fc.record({ key: fc.oneof(bytes, fc.string({ maxLength: 8 })), value: field });
const record = fc.record({
  timestampDelta: fc.integer({ min: -1_000_000, max: 1_000_000 }),
  key: field,
  value: field,
  headers: fc.array(header, { maxLength: 6 }),
});
const records = fc.array(record, { minLength: 1, maxLength: 12 });

type Given = typeof record extends fc.Arbitrary<infer T> ? T : never;

function encoded(given: readonly Given[], isPacked: boolean): Buffer {
  const content = given.map((of, offsetDelta) => encodeRecord({ ...of, offsetDelta }) as unknown as { buffer: Buffer });
  return batchOf(Buffer.concat(content.map(({ buffer }) => buffer)), { records: given.length, isPacked });
}

async function read(batch: Buffer, roomBytes: number) {
  const { records: found, fault } = await readSet(batch, { heapBytes: roomBytes, bytes: roomBytes });
  return { found, fault };
}

/** As a decoder gives a key: text where the bytes are text. */
function asKey(key: Buffer | string): Buffer | string {
  const text = Buffer.from(key).toString('utf8');
  return Buffer.from(text).equals(Buffer.from(key)) ? text : Buffer.from(key);
}

test('whatever records a batch has, they are what was sent, counted beforehand or not', async () => {
  await fc.assert(
    fc.asyncProperty(records, fc.boolean(), fc.constantFrom(1e9, 20_000), async (given, isPacked, room) => {
      const { found, fault } = await read(encoded(given, isPacked), room);
      expect(fault).toBeNull();
      expect(found.map(({ key, value, timestamp, offset }) => ({ key, value, timestamp, offset }))).toEqual(
        given.map(({ key, value, timestampDelta }, at) => ({
          ...{ key, value, timestamp: BigInt(timestampDelta), offset: BigInt(at) },
        })),
      );
      expect(found.map(({ headers }) => headers)).toEqual(
        given.map(({ headers }) => headers.map(({ key, value }) => ({ key: asKey(key), value }))),
      );
    }),
    RUNS,
  );
});

test('whatever a batch tells of itself, it is read or refused by name, and makes no more than its bytes can be', async () => {
  const lie = fc.record({
    at: fc.nat(),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 6 }),
    count: fc.option(fc.integer()),
  });
  await fc.assert(
    fc.asyncProperty(records, lie, async (given, { at, bytes: lies, count }) => {
      const batch = encoded(given, false);
      const from = BATCH_HEAD_BYTES + (at % (batch.length - BATCH_HEAD_BYTES));
      batch.set(lies.subarray(0, batch.length - from), from);
      if (count !== null) batch.writeInt32BE(count, COUNT_AT);
      const [roomy, narrow] = [await read(checksummed(batch), 1e9), await read(batch, 1)];
      for (const { found, fault } of [roomy, narrow]) {
        const made = found.reduce((sum, { headers }) => sum + 7 + 2 * headers.length, 0);
        expect(made).toBeLessThanOrEqual(batch.length);
        expect(fault === null || ['CORRUPT_BATCH', 'OVERSIZED_BATCH'].includes(fault.code)).toBe(true);
      }
      expect(narrow.found).toEqual([]);
      // What is counted is refused for its size only where it could be read.
      expect(narrow.fault?.code).toBe(roomy.fault?.code ?? 'OVERSIZED_BATCH');
    }),
    RUNS,
  );
});
