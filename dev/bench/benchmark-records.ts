import { randomSource } from '../orders/random-source.ts';
import { sampleOrder } from '../orders/sample-record.ts';

const CUSTOMERS = 20_000;
const SEED = 7;

/** One record of the benchmark: about 200 bytes of JSON, a key and one header, none of them poison. */
export interface BenchmarkRecord {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** The header that every record of the benchmark carries. */
export const BENCHMARK_HEADER = { key: 'source', value: Buffer.from('bench') } as const;

/** The record at an index; the same in every run. */
export function benchmarkRecord(index: number): BenchmarkRecord {
  const random = randomSource(SEED, index);
  const customer = random.below(CUSTOMERS);
  return { key: Buffer.from(`customer-${customer}`), value: Buffer.from(sampleOrder(random, index, customer)) };
}
