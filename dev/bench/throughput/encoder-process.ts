import { orderEncoder, RECORDS_IN_A_BATCH } from './order-encoder.ts';
import type { TOPICS } from './order-topics.ts';

/** Passes over all batches: V8 optimizes in the first ones. */
const WARM_UP_PASSES = 10;
const PASSES = 25;

/** Prints the microseconds of processor time that a record of a topic takes: the median, and the least. */
function measure(topic: keyof typeof TOPICS): void {
  const { batches, encode } = orderEncoder(topic);
  const times: number[] = [];
  for (let pass = -WARM_UP_PASSES; pass < PASSES; pass += 1) {
    for (const records of batches) {
      const before = process.cpuUsage();
      encode(records);
      const { user, system } = process.cpuUsage(before);
      if (pass >= 0) {
        times.push((user + system) / RECORDS_IN_A_BATCH);
      }
    }
  }
  times.sort((a, b) => a - b);
  process.stdout.write(JSON.stringify({ median: times[times.length >> 1], least: times[0] }));
}

measure(process.argv[2] as keyof typeof TOPICS);
