/**
 * A program: connects a kafkajs client to the broker of its second argument, and prints how many timers are set in a
 * second in which nobody asks it anything. The first argument says which kafkajs: `shipped` or `tamed`.
 */
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { loadKafkajs } from '../../../app/kafka/kafkajs-patches.ts';

const IDLE_MS = 1_000;
const [, , kind, broker = ''] = process.argv;
const shipped = createRequire(import.meta.url);
const { Kafka, logLevel } = kind === 'tamed' ? loadKafkajs() : (shipped('kafkajs') as typeof import('kafkajs'));

const admin = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING }).admin();
await admin.connect();
await admin.describeCluster();
const setTimer = globalThis.setTimeout;
let timers = 0;
globalThis.setTimeout = Object.assign((...args: Parameters<typeof setTimer>) => {
  timers += 1;
  return setTimer(...args);
}, setTimer);
await delay(IDLE_MS);
process.stdout.write(`${timers}\n`);
await admin.disconnect();
