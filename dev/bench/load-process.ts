/** A steady load: a process of the benchmark of an everyday load, whose processor time is not measured. */
import { Kafka, logLevel } from 'kafkajs';
import { startSteadyLoad } from './produce-records.ts';

/** Often, so that each batch has a few records only. */
const REQUEST_MS = 25;

process.once('disconnect', () => process.exit());

const [broker = '', topic = '', partitions, rate] = process.argv.slice(2);
const kafka = new Kafka({ clientId: 'load', brokers: [broker], logLevel: logLevel.NOTHING });
const stop = await startSteadyLoad({
  kafka,
  topic,
  partitions: Number(partitions),
  recordsPerSecond: Number(rate),
  requestMs: REQUEST_MS,
  from: 0,
});
process.send?.('ready');
process.once('message', async () => process.send?.(await stop()));
