import { expect, test } from '@jest/globals';
import { createTopic, kafkaClient, produce } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

/** The gauge's value for partition 0 of the only topic; `undefined` while there is no such series. */
async function gauge({ get, endpoint }: StartedConsumer, name: string): Promise<number | undefined> {
  const text = await (await get(endpoint.prometheusPath)).text();
  const [, value] = new RegExp(`^${name}\\{.*\\} (\\d+)$`, 'm').exec(text) ?? [];
  return value === undefined ? undefined : Number(value);
}

test('records behind an open transaction are no lag and a gauge of their own, until it ends', async () => {
  const topic = await createTopic();
  await produce(topic, [{ value: '1' }]);
  const consumer = await startConsumer({ topics: [topic] });
  const awaitGauge = (name: string, wanted: number) =>
    until(`${name} ${wanted}`, async () => ((await gauge(consumer, name)) === wanted ? true : undefined));
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  await awaitGauge('consumer_records_beyond_stable_offset', 0);
  const settings = { transactionalId: randomName('tx'), idempotent: true, maxInFlightRequests: 1 };
  const producer = kafkaClient().producer(settings);
  await producer.connect();
  const transaction = await producer.transaction();
  await transaction.send({ topic, messages: [{ value: '2' }, { value: '3' }] });
  await produce(topic, [{ value: '4' }]);
  await awaitGauge('consumer_records_beyond_stable_offset', 3);
  expect(await gauge(consumer, 'kafka_consumer_records_lag')).toBe(0);
  await transaction.commit();
  await producer.disconnect();
  await awaitEachOnce({ schema: consumer.schema, topic, records: 4 });
  await awaitGauge('consumer_records_beyond_stable_offset', 0);
});
