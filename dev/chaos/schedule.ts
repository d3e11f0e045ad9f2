import { type RandomSource, randomSource } from '../orders/random-source.ts';

/** Partitions of the topic: more than consumers, so that each has some. */
export const PARTITIONS = 6;
/** Consumers at the start are those with the numbers 1 to 3. */
export const FIRST_CONSUMERS: readonly number[] = [1, 2, 3];
/** Numbers of the consumers that may run at once. */
export const ALL_CONSUMERS: readonly number[] = [1, 2, 3, 4];
/** `kafka.sessionTimeout` of the consumers: a freeze is longer, so that the frozen one has lost its partitions. */
export const SESSION_TIMEOUT_MS = 6_000;

/** One step of so many has two faults. */
const PAIR_EVERY = 4;

/** A fault of a consumer, of Kafka or of PostgreSQL; `ms` is its length in milliseconds. */
export type Fault =
  | { readonly kind: 'kill consumer'; readonly slot: number }
  | { readonly kind: 'freeze consumer'; readonly slot: number; readonly ms: number }
  | { readonly kind: 'add consumer'; readonly slot: number }
  | { readonly kind: 'remove consumer'; readonly slot: number }
  | { readonly kind: 'restart PostgreSQL'; readonly ms: number }
  | { readonly kind: 'restart Kafka'; readonly way: 'stop' | 'crash'; readonly ms: number }
  | { readonly kind: 'cut PostgreSQL' | 'cut Kafka'; readonly ms: number }
  | { readonly kind: 'delay PostgreSQL' | 'delay Kafka'; readonly latencyMs: number; readonly ms: number }
  | { readonly kind: 'lock table'; readonly ms: number }
  | { readonly kind: 'poison burst'; readonly partition: number; readonly records: number };

export type FaultKind = Fault['kind'];

/** A fault as the terminal shows it: `kill consumer 2 (SIGKILL); it is started again`. */
export function describeFault(fault: Fault): string {
  switch (fault.kind) {
    case 'kill consumer':
      return `kill consumer ${fault.slot} (SIGKILL); it is started again`;
    case 'freeze consumer':
      return `freeze consumer ${fault.slot} (SIGSTOP) for ${seconds(fault.ms)}, then let it go on`;
    case 'add consumer':
      return `add consumer ${fault.slot}`;
    case 'remove consumer':
      return `remove consumer ${fault.slot} (SIGTERM)`;
    case 'restart PostgreSQL':
      return `restart PostgreSQL in immediate mode, away for ${seconds(fault.ms)}`;
    case 'restart Kafka':
      return `restart Kafka (${fault.way}), away for ${seconds(fault.ms)}`;
    case 'cut PostgreSQL':
    case 'cut Kafka':
      return `${fault.kind}: break its connections, refuse new ones for ${seconds(fault.ms)}`;
    case 'delay PostgreSQL':
    case 'delay Kafka':
      return `${fault.kind}: ${fault.latencyMs} ms more in each direction for ${seconds(fault.ms)}`;
    case 'lock table':
      return `lock the table records for ${seconds(fault.ms)}`;
    case 'poison burst':
      return `poison burst: ${fault.records} bad records in a row to partition ${fault.partition}`;
  }
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Faults that begin together, after a while without any. */
export interface Step {
  readonly quietMs: number;
  /** One fault, or two that overlap. */
  readonly faults: readonly Fault[];
}

const KINDS: readonly FaultKind[] = [
  'kill consumer',
  'freeze consumer',
  'add consumer',
  'remove consumer',
  'restart PostgreSQL',
  'restart Kafka',
  'cut PostgreSQL',
  'cut Kafka',
  'delay PostgreSQL',
  'delay Kafka',
  'lock table',
  'poison burst',
];

/**
 * The endless schedule of faults: rounds in which each kind comes once. The seed alone decides their order, their
 * lengths and the consumers that they hit. Two to four consumers run at any time: each round adds one and removes one.
 */
export function* faultSchedule(seed: number): Generator<Step, never> {
  const present = new Set(FIRST_CONSUMERS);
  for (let round = 0; ; round += 1) {
    const random = randomSource(seed, round);
    const deck = shuffled(random, KINDS);
    while (deck.length > 0) {
      const quietMs = between(random, 500, 3_000);
      const kinds = deck.splice(0, random.below(PAIR_EVERY) === 0 ? 2 : 1);
      yield { quietMs, faults: drawFaults(random, kinds, present) };
    }
  }
}

/** Faults of one step never meet the same consumer. */
function drawFaults(random: RandomSource, kinds: readonly FaultKind[], present: Set<number>): readonly Fault[] {
  const untouched = new Set(ALL_CONSUMERS);
  return kinds.map((kind) => {
    const slots = ALL_CONSUMERS.filter(
      (slot) => untouched.has(slot) && present.has(slot) === (kind !== 'add consumer'),
    );
    const fault = drawFault(random, kind, slots);
    if (fault.kind === 'add consumer') {
      present.add(fault.slot);
    } else if (fault.kind === 'remove consumer') {
      present.delete(fault.slot);
    }
    if ('slot' in fault) {
      untouched.delete(fault.slot);
    }
    return fault;
  });
}

function drawFault(random: RandomSource, kind: FaultKind, slots: readonly number[]): Fault {
  switch (kind) {
    case 'kill consumer':
    case 'remove consumer':
    case 'add consumer':
      return { kind, slot: pick(random, slots) };
    case 'freeze consumer':
      return { kind, slot: pick(random, slots), ms: SESSION_TIMEOUT_MS + between(random, 1_000, 4_000) };
    case 'restart PostgreSQL':
      return { kind, ms: between(random, 0, 5_000) };
    case 'restart Kafka':
      return { kind, way: pick(random, ['stop', 'crash'] as const), ms: between(random, 0, 5_000) };
    case 'cut PostgreSQL':
    case 'cut Kafka':
      return { kind, ms: between(random, 0, 4_000) };
    case 'delay PostgreSQL':
    case 'delay Kafka':
      return { kind, latencyMs: between(random, 20, 400), ms: between(random, 2_000, 6_000) };
    case 'lock table':
      return { kind, ms: between(random, 2_000, 7_000) };
    case 'poison burst':
      return { kind, partition: random.below(PARTITIONS), records: between(random, 50, 1_000) };
  }
}

const between = (random: RandomSource, least: number, most: number): number => least + random.below(most - least + 1);

function pick<T>(random: RandomSource, from: readonly T[]): T {
  const picked = from[random.below(from.length)];
  if (picked === undefined) {
    throw new Error('there is nothing to pick from');
  }
  return picked;
}

function shuffled<T>(random: RandomSource, from: readonly T[]): T[] {
  const rest = [...from];
  return from.flatMap(() => rest.splice(random.below(rest.length), 1));
}
