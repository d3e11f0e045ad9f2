import { type RandomSource, randomSource } from '../orders/random-source.ts';
import { REGISTRY_TROUBLES, type RegistryTrouble } from '../stack/schema-server.ts';

/** Partitions of the topic: more than consumers, so that each has some. */
export const PARTITIONS = 6;
/** Consumers at the start are those with the numbers 1 to 3. */
export const FIRST_CONSUMERS: readonly number[] = [1, 2, 3];
/** Numbers of the consumers that may run at once. */
export const ALL_CONSUMERS: readonly number[] = [1, 2, 3, 4];
/** Numbers of those that only come and go in a storm of joins. */
const VISITORS: readonly number[] = [5, 6, 7, 8];
/** Within so many milliseconds all of them are started, and so long each of them stays at most. */
const STORM_MS = 3_000;
/** `kafka.sessionTimeout` of the consumers: a freeze is longer, so that the frozen one has lost its partitions. */
export const SESSION_TIMEOUT_MS = 6_000;

export const MAIN_TOPIC = 'orders';
/** The topic that is deleted and created again while the consumers read it beside the other one. */
export const SIDE_TOPIC = 'refunds';
/** Topics that go into `records` by their names. */
export const NAMED_TOPICS: readonly string[] = [MAIN_TOPIC, SIDE_TOPIC];

/** What the consumers' settings have beside names: topics that it takes come and go. */
export const TEMPLATE = 'shops.{any}';
/** Topics of the template at the start: each round creates one and drops one, in any order. */
export const FIRST_TEMPLATED = 2;

/** Schema of the tables that topics of changes by key go to. */
export const KEYED_SCHEMA = 'public';

/** One step of so many has two faults. */
const PAIR_EVERY = 4;

/** A fault of a consumer, of Kafka, of PostgreSQL or of the registry; `ms` is its length in milliseconds. */
export type Fault =
  | { readonly kind: 'kill consumer'; readonly slot: number }
  | { readonly kind: 'freeze consumer'; readonly slot: number; readonly ms: number }
  | { readonly kind: 'add consumer'; readonly slot: number }
  | { readonly kind: 'remove consumer'; readonly slot: number }
  | { readonly kind: 'join storm'; readonly slot: number; readonly visits: readonly Visit[] }
  | { readonly kind: 'restart PostgreSQL'; readonly ms: number }
  | { readonly kind: 'restart Kafka'; readonly way: 'stop' | 'crash'; readonly ms: number }
  | { readonly kind: 'cut PostgreSQL' | 'cut Kafka' | 'cut registry'; readonly ms: number }
  | { readonly kind: 'spoil registry'; readonly trouble: RegistryTrouble; readonly ms: number }
  | { readonly kind: 'delay PostgreSQL' | 'delay Kafka'; readonly latencyMs: number; readonly ms: number }
  | { readonly kind: 'lock table'; readonly table: Table; readonly ms: number }
  | { readonly kind: 'alter table'; readonly table: Table; readonly change: TableChange; readonly ms: number }
  | { readonly kind: 'rename column'; readonly ms: number }
  | { readonly kind: 'limit connections'; readonly way: ConnectionLimit; readonly ms: number }
  | { readonly kind: 'limit bytes'; readonly bytesPerSecond: number; readonly ms: number }
  | { readonly kind: 'set clock'; readonly slot: number; readonly hours: number; readonly ms: number }
  | { readonly kind: 'fill output'; readonly slot: number; readonly ms: number }
  | { readonly kind: 'delete topic'; readonly ms: number }
  | { readonly kind: 're-create topic' }
  | { readonly kind: 'create topic' | 'drop topic' }
  | { readonly kind: 'second group'; readonly number: number }
  | { readonly kind: 'poison burst'; readonly partition: number; readonly records: number };

export type FaultKind = Fault['kind'];

/** A consumer that comes and goes; milliseconds. */
export interface Visit {
  readonly slot: number;
  /** From the beginning of the storm until it is started. */
  readonly afterMs: number;
  /** From when it listens, before it joins the group, until it is stopped. */
  readonly staysMs: number;
}

/** Tables that each transaction needs, that of a named topic, and that of one whose topic waits alone. */
export type Table = 'records' | 'offsets' | 'customers' | 'payments';
export type TableChange = 'column' | 'index' | 'rewrite';
/** What is used up: the connections of the consumers' role, or all of the server's. */
export type ConnectionLimit = 'role' | 'server';

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
    case 'join storm':
      return `join storm: consumers ${fault.visits.map(({ slot }) => slot).join(', ')} come and go within seconds, and consumer ${fault.slot} is stopped and started again`;
    case 'restart PostgreSQL':
      return `restart PostgreSQL in immediate mode, away for ${seconds(fault.ms)}`;
    case 'restart Kafka':
      return `restart Kafka (${fault.way}), away for ${seconds(fault.ms)}`;
    case 'cut PostgreSQL':
    case 'cut Kafka':
    case 'cut registry':
      return `${fault.kind}: break its connections, refuse new ones for ${seconds(fault.ms)}`;
    case 'spoil registry':
      return `spoil registry: it ${REGISTRY_TROUBLES[fault.trouble]} for ${seconds(fault.ms)}`;
    case 'delay PostgreSQL':
    case 'delay Kafka':
      return `${fault.kind}: ${fault.latencyMs} ms more in each direction for ${seconds(fault.ms)}`;
    case 'lock table':
      return `lock the table ${fault.table} for ${seconds(fault.ms)}`;
    case 'alter table':
      return `${TABLE_CHANGES[fault.change]} of ${fault.table}, within ${seconds(fault.ms)}`;
    case 'rename column':
      return `rename column: the table payments does not fit for ${seconds(fault.ms)}, and its topic waits alone`;
    case 'limit connections':
      return `${CONNECTION_LIMITS[fault.way]} for ${seconds(fault.ms)}, and end the consumers' sessions`;
    case 'limit bytes':
      return `limit bytes: Kafka's quota is ${fault.bytesPerSecond} bytes/s for all consumers for ${seconds(fault.ms)}`;
    case 'set clock':
      return `set clock of consumer ${fault.slot} by ${fault.hours} h, and back after ${seconds(fault.ms)}`;
    case 'fill output':
      return `fill output of consumer ${fault.slot}, and read none of it for ${seconds(fault.ms)}`;
    case 'delete topic':
      return `delete topic ${SIDE_TOPIC}, and create it again after ${seconds(fault.ms)}`;
    case 're-create topic':
      return `re-create topic ${SIDE_TOPIC}: delete it, and create it again at once`;
    case 'create topic':
      return `create topic: one more that ${TEMPLATE} takes, with records`;
    case 'drop topic':
      return `drop topic: the oldest one that ${TEMPLATE} takes is deleted with its last records`;
    case 'second group':
      return `second group ${fault.number}: a consumer of it fills the table by key, and has to be refused`;
    case 'poison burst':
      return `poison burst: ${fault.records} bad records in a row to partition ${fault.partition}`;
  }
}

const TABLE_CHANGES: Readonly<Record<TableChange, string>> = {
  column: 'alter table: add a column, keep the transaction open, and drop the column',
  index: 'alter table: create an index, keep the transaction open, and drop the index',
  rewrite: 'alter table: VACUUM FULL, again and again,',
};

const CONNECTION_LIMITS: Readonly<Record<ConnectionLimit, string>> = {
  role: "limit connections: CONNECTION LIMIT 0 for the consumers' role",
  server: 'limit connections: other sessions take all of max_connections',
};

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Faults that begin together, after a while without any. */
export interface Step {
  readonly quietMs: number;
  /** One fault, or two that overlap. */
  readonly faults: readonly Fault[];
}

/** All of them, in the order of docs/verification.md. */
export const FAULT_KINDS: readonly FaultKind[] = [
  'kill consumer',
  'freeze consumer',
  'add consumer',
  'remove consumer',
  'join storm',
  'restart PostgreSQL',
  'restart Kafka',
  'cut PostgreSQL',
  'cut Kafka',
  'cut registry',
  'spoil registry',
  'delay PostgreSQL',
  'delay Kafka',
  'lock table',
  'alter table',
  'rename column',
  'limit connections',
  'limit bytes',
  'set clock',
  'fill output',
  'delete topic',
  're-create topic',
  'create topic',
  'drop topic',
  'second group',
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
    const deck = shuffled(random, FAULT_KINDS);
    while (deck.length > 0) {
      const quietMs = between(random, 500, 3_000);
      // Consumers end at a topic that was created again: no other fault has to find them there meanwhile.
      const isPair = random.below(PAIR_EVERY) === 0 && !deck.slice(0, 2).includes('re-create topic');
      const kinds = deck.splice(0, isPair ? 2 : 1);
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
    case 'join storm':
      return { kind, slot: pick(random, slots), visits: drawVisits(random) };
    case 'restart PostgreSQL':
      return { kind, ms: between(random, 0, 5_000) };
    case 'restart Kafka':
      return { kind, way: pick(random, ['stop', 'crash'] as const), ms: between(random, 0, 5_000) };
    case 'cut PostgreSQL':
    case 'cut Kafka':
      return { kind, ms: between(random, 0, 4_000) };
    case 'cut registry':
      return { kind, ms: between(random, 2_000, 8_000) };
    case 'spoil registry':
      return { kind, trouble: pick(random, TROUBLES), ms: between(random, 4_000, 8_000) };
    case 'delay PostgreSQL':
    case 'delay Kafka':
      return { kind, latencyMs: between(random, 20, 400), ms: between(random, 2_000, 6_000) };
    case 'lock table':
      return { kind, table: pick(random, TABLES), ms: between(random, 2_000, 7_000) };
    case 'alter table':
      return { kind, table: pick(random, TABLES), change: pick(random, CHANGES), ms: between(random, 1_000, 5_000) };
    case 'rename column':
      return { kind, ms: between(random, 1_000, 8_000) };
    case 'limit connections':
      return { kind, way: pick(random, ['role', 'server'] as const), ms: between(random, 2_000, 7_000) };
    case 'limit bytes':
      return { kind, bytesPerSecond: between(random, 20_000, 200_000), ms: between(random, 4_000, 10_000) };
    case 'set clock':
      return { kind, slot: pick(random, slots), hours: clockStep(random), ms: between(random, 2_000, 7_000) };
    case 'fill output':
      return { kind, slot: pick(random, slots), ms: between(random, 4_000, 8_000) };
    case 'delete topic':
      return { kind, ms: between(random, 6_000, 12_000) };
    case 're-create topic':
    case 'create topic':
    case 'drop topic':
      return { kind };
    case 'second group':
      return { kind, number: random.below(1_000_000) };
    case 'poison burst':
      return { kind, partition: random.below(PARTITIONS), records: between(random, 50, 1_000) };
  }
}

/** Some leave while they join, some when others do. */
const drawVisits = (random: RandomSource): readonly Visit[] =>
  VISITORS.slice(0, between(random, 2, VISITORS.length)).map((slot) => ({
    slot,
    afterMs: between(random, 0, STORM_MS),
    staysMs: between(random, 0, STORM_MS),
  }));

const TABLES = ['records', 'offsets', 'customers', 'payments'] as const;
const CHANGES = ['column', 'index', 'rewrite'] as const;
const TROUBLES = Object.keys(REGISTRY_TROUBLES) as readonly RegistryTrouble[];

/** Hours forward or back, never none. */
const clockStep = (random: RandomSource): number => between(random, 1, 24) * pick(random, [1, -1] as const);

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
