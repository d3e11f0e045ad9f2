/**
 * A program: connects a kafkajs client to the broker of its second argument, and prints how often it wakes up in a second in
 * which no request comes: timers set, and rounds of intervals. The first argument says which kafkajs: `shipped` or
 * `tamed`.
 */
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { loadKafkajs } from '../../../app/kafka/kafkajs/patches.ts';

const IDLE_MS = 1_000;
const [, , kind, broker = ''] = process.argv;
const shipped = createRequire(import.meta.url);
const { Kafka, logLevel } = kind === 'tamed' ? loadKafkajs() : (shipped('kafkajs') as typeof import('kafkajs'));

const { setTimeout: setTimer, setInterval: setRepeated } = globalThis;
let wakeUps = 0;
globalThis.setInterval = ((round: () => void, ...rest: [number]) =>
  setRepeated(
    () => {
      wakeUps += 1;
      round();
    },
    ...rest,
  )) as typeof setInterval;

const admin = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING }).admin();
await admin.connect();
await admin.describeCluster();
globalThis.setTimeout = Object.assign((...args: Parameters<typeof setTimer>) => {
  wakeUps += 1;
  return setTimer(...args);
}, setTimer);
wakeUps = 0;
await delay(IDLE_MS);
process.stdout.write(`${wakeUps}\n`);
await admin.disconnect();
