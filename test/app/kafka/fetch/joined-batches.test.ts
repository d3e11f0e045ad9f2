import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BATCH_ATTRIBUTE, BATCH_HEAD } from '../../../../app/kafka/fetch/batch-head.ts';
import { encodeRecord } from '../../../../app/kafka/kafkajs/patches.ts';
import type { StreamRecord } from '../../../../app/records/record.ts';
import type { RecordBatch } from '../../../../app/records/record-batch.ts';
import { Records } from '../../../../app/records/records.ts';
import { BATCH_HEAD_BYTES, batchOf, checksummed, oldMessage, readSet, recordBatch } from './record-sets.ts';

/** What a batch is beside its records. @default of each: as most batches are */
interface GivenBatch {
  readonly records: readonly Parameters<typeof encodeRecord>[0][];
  readonly firstOffset: number;
  readonly attributes?: number;
  readonly isPacked?: boolean;
  readonly firstTimestamp?: bigint;
  readonly maxTimestamp?: bigint;
  readonly leaderEpoch?: number;
}

function encoded({ records, firstOffset, attributes = 0, isPacked = false, ...head }: GivenBatch): Buffer {
  const content = records.map((of) => (encodeRecord(of) as unknown as { buffer: Buffer }).buffer);
  const batch = batchOf(Buffer.concat(content), { firstOffset, records: records.length, isPacked });
  batch.writeInt32BE(records.at(-1)?.offsetDelta ?? 0, BATCH_HEAD.lastOffsetDelta);
  batch.writeInt16BE(attributes | batch.readInt16BE(BATCH_HEAD.attributes), BATCH_HEAD.attributes);
  batch.writeBigInt64BE(head.firstTimestamp ?? 1_700_000_000_000n, BATCH_HEAD.firstTimestamp);
  batch.writeBigInt64BE(head.maxTimestamp ?? 1_700_000_000_500n, BATCH_HEAD.maxTimestamp);
  batch.writeInt32BE(head.leaderEpoch ?? 3, BATCH_HEAD.leaderEpoch);
  return checksummed(batch);
}

const aRecord = (value: string, offsetDelta = 0, timestampDelta = 0) => ({
  ...{ key: Buffer.from('k'), value: Buffer.from(value), offsetDelta, timestampDelta },
  headers: [{ key: 'h', value: Buffer.from(value) }],
});

const aBatch = (firstOffset: number, changes: Partial<GivenBatch> = {}): Buffer =>
  encoded({ records: [aRecord(`${firstOffset}`)], firstOffset, ...changes });

const batchesOf = ({ parts }: Records): RecordBatch[] => [...new Set(parts.map(({ batch }) => batch))];

const joinedIn = (batches: readonly { readonly records: Records }[]): RecordBatch[] =>
  batches.flatMap(({ records }) => batchesOf(records));

test('small batches that follow each other are one, with all of their records', async () => {
  const { batches, records, fault } = await readSet(Buffer.concat([aBatch(5), aBatch(6), aBatch(9)]));
  expect([batches.length, fault]).toEqual([1, null]);
  expect(batches[0]).toMatchObject({ firstOffset: 5n, nextOffset: 10n, leaderEpoch: 3 });
  expect(records.map(({ offset, value }) => `${offset} ${value}`)).toEqual(['5 5', '6 6', '9 9']);
});

test('the leader epoch of joined batches is that of the last one', async () => {
  const { batches } = await readSet(Buffer.concat([aBatch(5, { leaderEpoch: 3 }), aBatch(6, { leaderEpoch: 4 })]));
  expect(batches.map(({ leaderEpoch }) => leaderEpoch)).toEqual([4]);
});

test.each<[string, Partial<GivenBatch>]>([
  ['packed', { isPacked: true }],
  ['of a transaction', { attributes: BATCH_ATTRIBUTE.transactional }],
  ['of the times of the broker, among those of producers', { attributes: BATCH_ATTRIBUTE.logAppendTime }],
  ['of a time that no number holds', { firstTimestamp: 2n ** 60n }],
  ['of 64 KiB', { records: [aRecord('x'.repeat(65_536))] }],
])('a batch that is %s is read alone, and those around it are not lost', async (_, changes) => {
  const set = [aBatch(5), aBatch(6), aBatch(7, changes), aBatch(8), aBatch(9)];
  const { batches, records, fault } = await readSet(Buffer.concat(set));
  expect(fault).toBeNull();
  expect(records.map(({ offset }) => Number(offset))).toEqual([5, 6, 7, 8, 9]);
  expect(batches.map(({ firstOffset, nextOffset }) => [Number(firstOffset), Number(nextOffset)])).toEqual([
    [5, 7],
    [7, 8],
    [8, 10],
  ]);
});

test('times that no number holds are exact, however near they are', async () => {
  const times = [2n ** 60n, 2n ** 60n + 1n];
  const set = times.map((firstTimestamp, nth) => aBatch(nth, { firstTimestamp }));
  expect((await readSet(Buffer.concat(set))).records.map(({ timestamp }) => timestamp)).toEqual(times);
});

test('an offset beyond what a number holds is exact', async () => {
  const last = Number.MAX_SAFE_INTEGER;
  const set = Buffer.concat([aBatch(0), encoded({ records: [aRecord('a'), aRecord('b', 2)], firstOffset: last })]);
  const { batches, records } = await readSet(set);
  expect(records.map(({ offset }) => offset)).toEqual([0n, 2n ** 53n - 1n, 2n ** 53n + 1n]);
  expect(batches.at(-1)?.nextOffset).toBe(2n ** 53n + 2n);
});

test('batches whose offsets do not ascend are read one by one', async () => {
  const { batches, records, fault } = await readSet(Buffer.concat([aBatch(5), aBatch(5), aBatch(4)]));
  expect([batches.length, fault]).toEqual([3, null]);
  expect(records.map(({ offset }) => Number(offset))).toEqual([5, 5, 4]);
});

test('behind records that do not follow those before, nothing is tried again with all that follows', async () => {
  const ahead = encoded({ records: [aRecord('a', 3)], firstOffset: 5 });
  const { batches, records, fault } = await readSet(Buffer.concat([ahead, aBatch(6), aBatch(7), aBatch(8)]));
  expect([batches.length, fault]).toEqual([4, null]);
  expect(records.map(({ offset }) => Number(offset))).toEqual([8, 6, 7, 8]);
});

test('each batch counts for the memory, and joined ones for less than apart', async () => {
  const set = [aBatch(5), aBatch(6), aBatch(7)];
  const [one, three] = [await readSet(aBatch(5)), await readSet(Buffer.concat(set))];
  const [of, ofAll] = [one, three].map(({ batches }) => batches[0]?.records.memory ?? 0);
  const bytes = 2 * aBatch(5).length + 2 * 8;
  expect((ofAll ?? 0) - (of ?? 0)).toBe(bytes + 2 * 112);
});

test('two transactions of one producer stay apart, also where compaction took the marker between them', async () => {
  const inTransaction = { attributes: BATCH_ATTRIBUTE.transactional };
  const { batches } = await readSet(Buffer.concat([aBatch(5, inTransaction), aBatch(6, inTransaction)]));
  expect(batches.map(({ firstOffset }) => Number(firstOffset))).toEqual([5, 6]);
});

test('a batch whose largest record may be too large for the memory is counted alone', async () => {
  const records = [aRecord('x'.repeat(100))];
  const set = Buffer.concat([aBatch(5, { records }), aBatch(6, { records })]);
  const read = await readSet(set, { heapBytes: 5_000, bytes: 5_000 });
  expect([read.batches.length, read.fault]).toEqual([2, null]);
});

test('no more than 64 KiB are joined', async () => {
  const set = Buffer.concat(Array.from({ length: 100 }, (_, nth) => recordBatch(nth * 200, 200)));
  const { batches, records } = await readSet(set);
  expect(records).toHaveLength(20_000);
  for (const { bytes } of joinedIn(batches)) {
    expect(bytes.length).toBeLessThanOrEqual(65_536);
  }
  expect(batches.length).toBeLessThan(10);
});

/** A batch of two records, of which the second is none, with its checksum. */
function brokenWithin(firstOffset: number): Buffer {
  const batch = encoded({ records: [aRecord('one'), aRecord('two', 1)], firstOffset });
  batch.writeUInt8(batch.readUInt8(BATCH_HEAD_BYTES) + 2, BATCH_HEAD_BYTES);
  return checksummed(batch);
}

/** A batch of two records, whose head counts one. */
function longerThanCounted(firstOffset: number): Buffer {
  const batch = encoded({ records: [aRecord('one'), aRecord('two', 1)], firstOffset });
  batch.writeInt32BE(1, BATCH_HEAD.records);
  return checksummed(batch);
}

test.each([
  ['content that is no records', brokenWithin(7)],
  ['more records than it counts', longerThanCounted(7)],
  ['another checksum', Buffer.from(aBatch(7)).fill(0, BATCH_HEAD.checksum, BATCH_HEAD.checksum + 4)],
])('a batch with %s is reported, behind the records of those before it', async (_, broken) => {
  const set = Buffer.concat([aBatch(5), aBatch(6), broken, aBatch(9)]);
  const { batches, records, fault } = await readSet(set);
  expect(records.map(({ offset }) => Number(offset))).toEqual([5, 6]);
  expect(batches.map(({ nextOffset }) => nextOffset)).toEqual([7n]);
  expect(fault).toMatchObject({ offset: 7n, code: 'CORRUPT_BATCH' });
});

const field = fc.option(
  fc.uint8Array({ maxLength: 40 }).map((content) => Buffer.from(content)),
  { nil: null },
);
const time = fc.oneof(
  fc.bigInt({ min: -1n, max: 1_800_000_000_000n }),
  fc.constantFrom(-(2n ** 62n), 2n ** 53n - 1n, -(2n ** 53n) + 1n, 2n ** 62n),
);
const someBatch = fc.record({
  kind: fc.constantFrom('plain', 'plain', 'plain', 'plain', 'packed', 'transactional', 'control', 'broken', 'old'),
  hasAppendTime: fc.boolean(),
  gap: fc.nat({ max: 3 }),
  firstTimestamp: time,
  maxTimestamp: time,
  leaderEpoch: fc.nat({ max: 9 }),
  records: fc.array(
    fc.record({
      ...{ gap: fc.nat({ max: 2 }), timestampDelta: fc.integer({ min: -5_000, max: 5_000 }) },
      ...{ key: field, value: field },
      headers: fc.array(fc.record({ key: fc.string({ maxLength: 3 }), value: field }), { maxLength: 2 }),
    }),
    { maxLength: 4 },
  ),
});

type Some = typeof someBatch extends fc.Arbitrary<infer T> ? T : never;

/** The bytes of a batch that begins at an offset, and the offset behind it. */
function placed({ kind, hasAppendTime, records: given, ...some }: Some, from: number): readonly [Buffer, number] {
  const firstOffset = from + some.gap;
  if (kind === 'old') {
    return [oldMessage(firstOffset, { version: 1, value: 'old', timestamp: 5 }), firstOffset + 1];
  }
  let behind = 0;
  const records = given.map(({ gap, ...fields }) => {
    const offsetDelta = behind + gap;
    behind = offsetDelta + 1;
    return { ...fields, offsetDelta };
  });
  const attributes =
    (hasAppendTime ? BATCH_ATTRIBUTE.logAppendTime : 0) |
    (kind === 'transactional' || kind === 'control' ? BATCH_ATTRIBUTE.transactional : 0) |
    (kind === 'control' ? BATCH_ATTRIBUTE.control : 0);
  const batch = encoded({ ...some, records, firstOffset, attributes, isPacked: kind === 'packed' });
  if (kind === 'broken' && batch.length > BATCH_HEAD_BYTES) {
    batch.writeUInt8(batch.readUInt8(BATCH_HEAD_BYTES) ^ 2, BATCH_HEAD_BYTES);
  }
  return [checksummed(batch), firstOffset + Math.max(1, behind)];
}

async function readAlone(all: readonly Buffer[]) {
  const records: StreamRecord[] = [];
  let [fault, end]: [unknown, unknown] = [null, null];
  for (const batch of all) {
    const alone = await readSet(batch);
    records.push(...alone.records);
    end = alone.batches[0] ? [alone.batches[0].nextOffset, alone.batches[0].leaderEpoch] : end;
    fault = alone.fault;
    if (fault !== null) {
      break;
    }
  }
  return { records, fault, end };
}

const mostOf = (values: readonly bigint[]): bigint => values.reduce((most, value) => (value > most ? value : most));

test('whatever batches a set has, they are read as each of them alone', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someBatch, { maxLength: 8 }), async (given) => {
      const all: Buffer[] = [];
      given.reduce((from, some) => {
        const [batch, behind] = placed(some, from);
        all.push(batch);
        return behind;
      }, 0);
      const [together, alone] = [await readSet(Buffer.concat(all)), await readAlone(all)];
      const last = together.batches.at(-1);
      expect(together.records).toEqual(alone.records);
      expect(together.fault).toEqual(alone.fault);
      expect(last === undefined ? null : [last.nextOffset, last.leaderEpoch]).toEqual(alone.end);
      for (const batch of joinedIn(together.batches)) {
        requireSums(batch);
      }
    }),
    { numRuns: 300 },
  );
});

/** What is known of the records as numbers, and of all of them without reading any, has to be true of each. */
function requireSums(batch: RecordBatch): void {
  const records = [...Records.of(batch)];
  Records.of(batch).forEach((cursor) => {
    expect(Number.isNaN(cursor.milliseconds) || BigInt(cursor.milliseconds) === cursor.timestamp).toBe(true);
    expect(BigInt(cursor.offsetNumber)).toBe(cursor.offset);
  });
  const content = records.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0);
  expect(batch.sums.contentBytes).toBe(content);
  if (Number.isSafeInteger(batch.milliseconds) && Number.isSafeInteger(batch.sums.timeSum)) {
    const times = records.map(({ timestamp }) => timestamp - BigInt(batch.milliseconds));
    expect(BigInt(batch.sums.mostTime)).toBe(mostOf(times));
    expect(BigInt(batch.sums.leastTime)).toBe(-mostOf(times.map((of) => -of)));
    expect(BigInt(batch.sums.timeSum)).toBe(times.reduce((sum, of) => sum + of, 0n));
  }
}

test('records of joined batches are cut and found as those of one', async () => {
  const set = Buffer.concat([5, 7, 20, 21, 40].map((offset) => aBatch(offset)));
  const { batches } = await readSet(set);
  const records = new Records(batches.flatMap((batch) => batch.records.parts));
  const offsets = (some: Records) => [...some].map(({ offset }) => Number(offset));
  expect(batches).toHaveLength(1);
  expect(offsets(records.behind(8n))).toEqual([20, 21, 40]);
  expect(offsets(records.slice(1, 3))).toEqual([7, 20]);
  expect(records.at(3)).toMatchObject({ offset: 21n, value: Buffer.from('21') });
  const visited: number[] = [];
  records.forEach((cursor) => {
    visited.push(cursor.offsetNumber);
  });
  expect(visited).toEqual([5, 7, 20, 21, 40]);
});
