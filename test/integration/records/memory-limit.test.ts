import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { SMALLEST_MEMORY_LIMIT } from '../../../deployment/sections/resources.ts';
import { memoryBytes } from '../../../dev/bench/bench-consumer.ts';
import { batchOf, recordWithHeaders, tinyRecords } from '../../app/kafka/fetch/record-sets.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { memoryGroup, whyNoMemoryGroup } from '../stack/memory-group.ts';
import {
  applyLoad,
  awaitRows,
  type MemoryLoad,
  POD,
  podWith,
  produceLoad,
  startInPod,
  stopPods,
} from '../stack/memory-load.ts';
import { produceBatch } from '../stack/raw-batch.ts';
import { awaitPosition } from '../stack/stored-position.ts';
import { testRun } from '../stack/test-run.ts';

const MEBIBYTE = 2 ** 20;

/** What the alert MemoryHigh warns of. */
const MOST_BYTES = POD.bytes * 0.8;

/** How long after it has caught up the process has given back what it took, and how much of it may remain. */
const SETTLE_MS = 60_000;
const MOST_GROWTH = 1.3;

/** Time for one load: producing it, the lock, catching up, and settling. */
const LONG_MS = 900_000;

const LOAD: Omit<MemoryLoad, 'partitions' | 'recordBytes'> = { totalBytes: 300 * MEBIBYTE, lockMs: 30_000 };

afterEach(stopPods);

const missing = whyNoMemoryGroup();
const place = 'in a control group with the memory of a default Pod';

describe(missing === null ? place : `WITHOUT a control group, so only the peak is judged: ${missing}`, () => {
  if (missing === null) {
    test('a process that goes beyond the limit is killed', async () => {
      const group = await memoryGroup(128 * MEBIBYTE);
      const args = ['-c', group.shell, 'bash', process.execPath, '-e', `Buffer.alloc(${256 * MEBIBYTE}, 1)`];
      const hog = await (await testRun()).spawn({ program: 'bash', args, cwd: '/', env: {}, onLine: () => undefined });
      expect(await hog.exited).toMatchObject({ signal: 'SIGKILL' });
      expect(group.kills()).toBeGreaterThan(0);
    });
  }

  longTest(
    '240 partitions of 10 kB records behind a locked table stay below 80 % of the limit',
    async () => {
      const load = { ...LOAD, totalBytes: 150 * MEBIBYTE, lockMs: 10_000 };
      const { peak, kills } = await applyLoad({ ...load, partitions: 240, recordBytes: 10_000 });
      expect(kills).toBe(0);
      expect(peak).toBeLessThan(MOST_BYTES);
    },
    600_000,
  );

  longTest(
    `${SMALLEST_MEMORY_LIMIT}, the least that consumer.yaml may say, is enough for a backlog of 300 MiB`,
    async () => {
      const load = { ...LOAD, partitions: 240, recordBytes: 10_000, lockMs: 0 };
      expect((await applyLoad(load, podWith(SMALLEST_MEMORY_LIMIT))).kills).toBe(0);
    },
  );

  test('a record of 10 MB passes where a partition may queue 1 MB, among partitions that have much to read', async () => {
    const topic = await createTopic({ partitions: 24, config: { 'max.message.bytes': '12000000' } });
    const value = JSON.stringify('x'.repeat(10_000_000));
    await produce(topic, [{ partition: 5, value: '{}' }]);
    await produce(topic, [{ partition: 5, value }]);
    const records = await produceLoad(topic, { ...LOAD, partitions: 24, recordBytes: 10_000 }, 30 * MEBIBYTE);
    const { consumer, group } = await startInPod(topic, { consumer: { maxValueBytes: 12_000_000 } });
    await awaitRows(consumer.schema, records + 2);
    const [stored] = await query(
      `SELECT "offset"::int FROM ${consumer.schema}.records WHERE length(value::text) = $1`,
      [value.length],
    );
    expect(stored).toEqual({ offset: 1 });
    expect(group.kills()).toBe(0);
    expect(memoryBytes(consumer.pid, 'VmHWM')).toBeLessThan(MOST_BYTES);
  }, 600_000);

  test('a batch of 39 kB with 20 million headers stops its partition alone, before any of them is in memory', async () => {
    const topic = await createTopic({ partitions: 2 });
    const bomb = batchOf(recordWithHeaders(20_000_000, [0, 1]), { records: 1, isPacked: true });
    await produceBatch(topic, 0, bomb);
    const { consumer, group } = await startInPod(topic);
    const line = await consumer.logs.waitFor(/"code":"OVERSIZED_BATCH"/, 60_000);
    expect(JSON.parse(line)).toMatchObject({ topic, partition: 0, offset: '0', codec: 'gzip' });
    expect(line).toContain('a record of it has 20,000,000 headers');
    await produce(topic, [{ partition: 1, value: '"goes on"' }]);
    await awaitRows(consumer.schema, 1);
    expect(group.kills()).toBe(0);
    expect(memoryBytes(consumer.pid, 'VmHWM')).toBeLessThan(MOST_BYTES);
  });

  /** Each is below the bound, and above the most that was written before there was one. */
  const largest: readonly (readonly [string, number, Buffer | null, readonly number[]])[] = [
    ['records of nothing', 1_700_000, null, [1, 1, 0]],
    ['records with a key and a value', 780_000, null, [2, 107, 2, 55, 0]],
    ['records with a header', 505_000, null, [2, 107, 2, 55, 2, 2, 107, 2, 118]],
    ['headers of one record', 1, recordWithHeaders(2_400_000, [0, 1]), []],
  ];
  for (const [name, records, content, end] of largest) {
    longTest(
      `the largest batch of ${name} that is not refused is written`,
      async () => {
        const topic = await createTopic({ config: { 'max.message.bytes': '50000000' } });
        await produceBatch(topic, 0, batchOf(content ?? tinyRecords(records, end), { records, isPacked: true }));
        const { consumer, group } = await startInPod(topic);
        await awaitPosition({ schema: consumer.schema, offset: records, timeout: 400_000 });
        expect(group.kills()).toBe(0);
      },
      600_000,
    );
  }

  const sizes = [1, 6, 48, 240].flatMap((partitions) =>
    [1_000, 10_000].map((recordBytes) => ({ partitions, recordBytes, isCompressed: false })),
  );
  for (const size of [...sizes, { partitions: 6, recordBytes: 1_000, isCompressed: true }]) {
    const load = { ...LOAD, ...size, totalBytes: 480 * MEBIBYTE, lockMs: 120_000 };
    const codec = size.isCompressed ? 'gzip, 13 times smaller' : 'no codec';
    longTest(
      `${size.partitions} partitions of ${size.recordBytes / 1_000} kB records, ${codec}: the same with a lock of two minutes, and a minute later at most ${MOST_GROWTH} times the memory of before`,
      async () => {
        const { before, peak, kills, consumer } = await applyLoad(load);
        expect(kills).toBe(0);
        expect(peak).toBeLessThan(MOST_BYTES);
        await delay(SETTLE_MS);
        expect(memoryBytes(consumer.pid, 'VmRSS')).toBeLessThanOrEqual(MOST_GROWTH * before);
      },
      LONG_MS,
    );
  }
});
