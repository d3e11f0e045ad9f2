import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import { POISON_KINDS, type Poison } from './poison.ts';
import { type RandomSource, randomSource } from './random-source.ts';
import { sampleOrder } from './sample-order.ts';

/** One header, in the order of the record. */
export type SampleHeader = readonly [key: string, value: string | Buffer];

/** A record to produce, and what the consumer has to make of it. */
export interface SampleRecord {
  readonly partition: number;
  readonly key: Buffer | null;
  /** `null` is a tombstone. */
  readonly value: Buffer | null;
  readonly headers: readonly SampleHeader[];
  /** Why the record has to end in `dead_letters`; undefined when it belongs into `records`. */
  readonly reason: DeadLetterReason | undefined;
}

/** The first poison records come early, so that a short run meets every kind; later ones are rare. */
const FIRST_POISON = { every: 10, upTo: POISON_KINDS.length * 10 } as const;
const LATER_POISON_EVERY = 1_000;
const TOMBSTONE_EVERY = 250;
const KEYLESS_EVERY = 97;
const PLAIN_HEADERS_EVERY = 2;
const ODD_HEADERS_EVERY = 50;
const CUSTOMERS = 20_000;

/**
 * The record at an index of the stream of sample orders: the same for the same seed and number of partitions, and
 * independent of all others. Records of one customer share a key and a partition.
 */
export function sampleRecord(seed: number, index: number, partitions: number): SampleRecord {
  const random = randomSource(seed, index);
  const customer = random.below(CUSTOMERS);
  const poison = poisonAt(index);
  const isTombstone = poison === undefined && index % TOMBSTONE_EVERY === TOMBSTONE_EVERY - 1;
  const isKeyless = poison === undefined && !isTombstone && index % KEYLESS_EVERY === KEYLESS_EVERY - 1;
  const key = isKeyless ? null : Buffer.from(`customer-${String(customer).padStart(5, '0')}`);
  const value = isTombstone ? null : Buffer.from(sampleOrder(random, index, customer));
  return {
    partition: customer % partitions,
    key: poison?.key ?? key,
    value: poison?.value ?? value,
    headers: headersAt(random, index),
    reason: poison?.reason,
  };
}

function poisonAt(index: number): Poison | undefined {
  const every = index <= FIRST_POISON.upTo ? FIRST_POISON.every : LATER_POISON_EVERY;
  return index > 0 && index % every === 0 ? POISON_KINDS[(index / every - 1) % POISON_KINDS.length] : undefined;
}

function headersAt(random: RandomSource, index: number): readonly SampleHeader[] {
  const trace: SampleHeader = [
    'trace-id',
    random
      .below(2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  ];
  if (index % ODD_HEADERS_EVERY === ODD_HEADERS_EVERY - 1) {
    return [trace, ['tag', 'first'], ['tag', 'second'], ['signature', Buffer.from([0x00, 0xff, index & 0xff])]];
  }
  return index % PLAIN_HEADERS_EVERY === 0 ? [trace] : [];
}
