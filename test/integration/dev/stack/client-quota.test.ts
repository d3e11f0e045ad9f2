import { expect, test } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import { limitFetches } from '../../../../dev/stack/client-quota.ts';
import { createTopic, produce } from '../../stack/kafka-client.ts';
import { randomName } from '../../stack/random-name.ts';
import { sharedBroker } from '../../stack/shared-stack.ts';
import { until } from '../../stack/until.ts';

const VALUES = Array.from({ length: 6 }, () => ({ value: 'x'.repeat(20_000) }));

/** Bytes in a second: the values take 12 s. */
const LIMIT = 10_000;

const SLOW_MS = 6_000;

/** Milliseconds that a client of this name needs to read the topic, one value in each fetch. */
async function timeToRead(topic: string, clientId: string): Promise<number> {
  const kafka = new Kafka({ clientId, brokers: [sharedBroker()], logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: randomName('group'), maxBytes: 1, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const began = performance.now();
  let read = 0;
  await new Promise<void>((resolve, reject) => {
    const eachMessage = async (): Promise<void> => {
      read += 1;
      if (read === VALUES.length) resolve();
    };
    consumer.run({ autoCommit: false, eachMessage }).catch(reject);
  });
  const time = performance.now() - began;
  await consumer.disconnect();
  return time;
}

test('limits the bytes of all clients of a name until it is taken back', async () => {
  const topic = await createTopic();
  for (const value of VALUES) await produce(topic, [value]);
  const clientId = randomName('client');
  const readsSlowly = async () => (await timeToRead(topic, clientId)) > SLOW_MS;
  // The controller answers before the brokers have heard of either change.
  await limitFetches(sharedBroker(), clientId, LIMIT);
  await until('a reading that the limit slows', async () => ((await readsSlowly()) ? true : undefined));
  await limitFetches(sharedBroker(), clientId, undefined);
  await until('a reading that nothing slows', async () => ((await readsSlowly()) ? undefined : true));
});

test('fails where no broker answers', async () => {
  await expect(limitFetches('127.0.0.1:1', 'client', 1)).rejects.toThrow('ECONNREFUSED');
});
