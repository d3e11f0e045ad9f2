import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { codecOf } from '../../../app/kafka/codecs/codecs.ts';
import { memoryBytes } from '../../../dev/bench/bench-consumer.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { sharedSegmentOf } from '../stack/log-segment.ts';
import { IS_LONG_RUN, longTest } from '../stack/long-test.ts';
import { CODECS, sendByJava, sendByLibrdkafka } from '../stack/other-producers.ts';
import { randomName } from '../stack/random-name.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitPosition } from '../stack/stored-position.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

const MEBIBYTE = 2 ** 20;

/** The codecs of the batches in the log of partition 0, with `in transaction` where they are. */
async function codecsInLog(topic: string): Promise<ReadonlySet<string>> {
  const log = await readFile(await sharedSegmentOf(topic));
  const codecs = new Set<string>();
  for (let at = 0; at < log.length; at += 12 + log.readInt32BE(at + 8)) {
    const attributes = log.readInt16BE(at + 21);
    codecs.add(`${codecOf(attributes)}${attributes & 0x10 ? ' in transaction' : ''}`);
  }
  return codecs;
}

/** Values that pack well, and are larger together than a block of any codec. */
const valuesOf = (producer: string): string[] =>
  Array.from({ length: 60 }, (_, n) => JSON.stringify({ producer, n, text: `${producer} ${n} `.repeat(200) }));

/** With each codec one producer has a transaction and the other one none; in `test:long` each has both. */
const waysToSend = (isTransaction: boolean): readonly boolean[] => (IS_LONG_RUN ? [false, true] : [isTransaction]);

test("all codecs in one topic, of Java's producer and of librdkafka, in transactions too, are read", async () => {
  const topic = await createTopic();
  let transactions = 0;
  const sendAll = async (producer: string, send: typeof sendByLibrdkafka, nth: number): Promise<string[]> => {
    const sent: string[] = [];
    for (const [place, codec] of CODECS.entries()) {
      for (const isTransaction of waysToSend((place + nth) % 2 === 0)) {
        const values = valuesOf(`${producer} ${codec}`);
        await send({ topic, codec, values, ...(isTransaction ? { transactionalId: randomName('tx') } : {}) });
        sent.push(...values);
        transactions += Number(isTransaction);
      }
    }
    return sent;
  };
  const all = await Promise.all([sendAll('java', sendByJava, 0), sendAll('librdkafka', sendByLibrdkafka, 1)]);
  const sent = all.flat();
  expect(await codecsInLog(topic)).toEqual(new Set(CODECS.flatMap((codec) => [codec, `${codec} in transaction`])));
  const { schema } = await startConsumer({ topics: [topic] });
  // Each transaction ends with a marker, which has an offset of its own.
  await awaitPosition({ schema, offset: sent.length + transactions });
  const rows = await query<{ value: { producer: string } }>(`SELECT value FROM ${schema}.records ORDER BY "offset"`);
  expect(rows).toHaveLength(sent.length);
  const known = new Set(sent);
  const read = rows.map(({ value }) => value);
  expect(read.filter((value) => !known.has(JSON.stringify(ordered(value))))).toEqual([]);
  const inOrder = all[1].map((text) => JSON.parse(text));
  expect(read.filter(({ producer }) => producer.startsWith('librdkafka'))).toEqual(inOrder);
});

/** The fields in the order in which they were sent; `jsonb` has another one. */
const ordered = ({ producer, n, text }: { producer: string; n?: number; text?: string }) => ({ producer, n, text });

longTest(
  'batches that unpack to more than the bound stop their partitions alone, are named, and take no memory',
  async () => {
    const bombs = ['gzip', 'snappy', 'lz4', 'zstd'] as const;
    const topic = await createTopic({ partitions: 5, config: { 'max.message.bytes': '40000000' } });
    const consumer = await startConsumer({ topics: [topic] });
    for (const [partition, codec] of bombs.entries()) {
      await sendByLibrdkafka({ topic, codec, values: valuesOf(codec), partition });
    }
    await awaitEachOnce({ schema: consumer.schema, topic, records: 240 });
    const before = memoryBytes(consumer.pid, 'VmRSS');
    const value = `"${'a'.repeat(100 * MEBIBYTE)}"`;
    for (const [partition, codec] of bombs.entries()) {
      await sendByLibrdkafka({ topic, codec, values: [value], partition });
      const line = await consumer.logs.waitFor(new RegExp(`"code":"OVERSIZED_BATCH".*"codec":"${codec}"`), 60_000);
      expect(JSON.parse(line)).toMatchObject({ topic, partition, offset: '60', codec });
      expect(line).toContain('it unpacks to more than 67108864 bytes (consumer.maxUnpackedBytes)');
    }
    await produce(topic, [{ partition: 4, value: '"goes on"' }]);
    await awaitEachOnce({ schema: consumer.schema, topic, records: 241 });
    expect(memoryBytes(consumer.pid, 'VmHWM') - before).toBeLessThan(96 * MEBIBYTE);
    const { details } = (await (await consumer.get(`${consumer.endpoint.healthPath}/consumer`)).json()) as {
      readonly details: { readonly unreadable: readonly { readonly partition: number }[] };
    };
    const faults = bombs.map((codec, partition) => expect.objectContaining({ topic, partition, offset: '60', codec }));
    expect(details.unreadable.toSorted((a, b) => a.partition - b.partition)).toEqual(faults);
  },
);

test('with consumer.onBrokenBatch: skip such a batch is a gap, each of its offsets counted, and the rest is read', async () => {
  const topic = await createTopic();
  const settings = { consumer: { onBrokenBatch: 'skip', maxUnpackedBytes: 65_536 } };
  await produce(topic, [{ value: '"before"' }]);
  await sendByLibrdkafka({ topic, codec: 'zstd', values: valuesOf('too large') });
  await produce(topic, [{ value: '"behind"' }]);
  const { schema, logs, get, endpoint } = await startConsumer({ topics: [topic], settings });
  await awaitPosition({ schema, offset: 62 });
  expect(await query(`SELECT value FROM ${schema}.records ORDER BY "offset"`)).toEqual([
    { value: 'before' },
    { value: 'behind' },
  ]);
  expect(
    await query(`SELECT topic, partition, from_offset::int AS from, next_offset::int AS next FROM ${schema}.gaps`),
  ).toEqual([{ topic, partition: 0, from: 1, next: 61 }]);
  const line = await logs.waitFor(/"nextOffset":"61"/);
  expect(JSON.parse(line)).toMatchObject({ topic, from: '1', code: 'OVERSIZED_BATCH', codec: 'zstd' });
  const skipped = await until('the offsets in the metrics', async () => {
    const text = await (await get(endpoint.prometheusPath)).text();
    return /^consumer_skipped_offsets_total\{.*\} (\d+)/m.exec(text)?.[1];
  });
  expect(skipped).toBe('60');
});
