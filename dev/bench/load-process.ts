/** A steady load: a process of the benchmarks, whose processor time is not measured. */
import { Kafka, logLevel } from 'kafkajs';
import { startSteadyLoad } from './produce-records.ts';
import { orderMessage } from './throughput/order-topics.ts';

/** Often, so that each batch has a few records only. */
const REQUEST_MS = 25;

process.once('disconnect', () => process.exit());

/** The topics with commas between them; `orders` as the last one makes the records those of the tables. */
const [broker = '', topics = '', partitions, rate, content] = process.argv.slice(2);
const kafka = new Kafka({ clientId: 'load', brokers: [broker], logLevel: logLevel.NOTHING });
const stop = await startSteadyLoad({
  kafka,
  topics: topics.split(','),
  partitions: Number(partitions),
  recordsPerSecond: Number(rate),
  requestMs: REQUEST_MS,
  from: 0,
  ...(content === 'orders' && { messageAt: (index: number) => orderMessage('orders', index) }),
});
process.send?.('ready');
process.once('message', async () => process.send?.(await stop()));
