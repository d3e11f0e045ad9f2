import { POISON_KINDS } from '../orders/poison.ts';
import { type SampleRecord, sampleRecord } from '../orders/sample-record.ts';

/** The header that holds a record's number, so that a reader of the topic can tell what the record has to be. */
export const NUMBER_HEADER = 'chaos-number';

/** Small enough for a thousand of them in one request. */
const BURST_BYTES = 1_024;
const BURST_KINDS = POISON_KINDS.filter(({ value }) => value === undefined || value.length <= BURST_BYTES);

/**
 * The record with a number: sample order `number` when it is not negative, else one of a poison burst, in
 * `burstPartition`.
 */
export function chaosRecord(seed: number, number: number, partitions: number, burstPartition: number): SampleRecord {
  const record = number < 0 ? burstRecord(number, burstPartition) : sampleRecord(seed, number, partitions);
  return { ...record, headers: [...record.headers, [NUMBER_HEADER, String(number)]] };
}

function burstRecord(number: number, partition: number): SampleRecord {
  const kind = BURST_KINDS[-number % BURST_KINDS.length];
  return {
    partition,
    key: kind?.key ?? Buffer.from(`burst${number}`),
    value: kind?.value ?? Buffer.from(`{"burst":${number}}`),
    headers: [],
    reason: kind?.reason,
  };
}
