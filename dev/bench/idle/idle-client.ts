/** An idle kafkajs consumer, with or without our patches: a process of the benchmark of idle processor time. */
import { createRequire } from 'node:module';
import { loadKafkajs } from '../../../app/kafka/kafkajs/patches.ts';

const [broker = '', topic = '', way] = process.argv.slice(2);
const plain = (): typeof import('kafkajs') => createRequire(import.meta.url)('kafkajs') as typeof import('kafkajs');
const { Kafka, logLevel } = way === 'patched' ? loadKafkajs() : plain();

const consumer = new Kafka({ clientId: way ?? '', brokers: [broker], logLevel: logLevel.NOTHING }).consumer({
  groupId: `idle-${way}`,
  maxWaitTimeInMs: 250,
});
await consumer.connect();
await consumer.subscribe({ topics: [topic] });
await consumer.run({ autoCommit: false, eachBatch: async () => undefined });
console.log('idle');
