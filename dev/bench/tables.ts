import { Kafka, logLevel, type Message } from 'kafkajs';
import { pick, randomSource } from '../orders/random-source.ts';
import { uuid } from '../orders/table-records.ts';
import type { Stack } from '../stack/local-stack.ts';
import { type EventForm, eventMessage } from './change-events/event-message.ts';
import { startJdbcSink } from './change-events/jdbc-sink.ts';
import { connectTo, startConsumer } from './measured-program.ts';
import { produceRecords } from './produce-records.ts';
import { type ConsumeResult, consumeBacklog, median, medianResult } from './throughput.ts';

const TABLE = 'bench.orders';
/** Ten columns: those of the measurements that the tables were designed by. */
const TABLE_DDL = `CREATE TABLE ${TABLE} (
  id bigint PRIMARY KEY, customer_id integer NOT NULL, total numeric(12,2) NOT NULL, placed_at timestamptz NOT NULL,
  gift boolean NOT NULL, payment_id uuid NOT NULL, currency text NOT NULL, status text NOT NULL,
  customer_name text NOT NULL, items jsonb NOT NULL)`;

/** A broker takes no batch above 1 MB, and an event with its schema has 4 kB. */
const PER_REQUEST = 600;
const FIRST_AT = Date.UTC(2026, 0, 1);
const BROKEN_EVERY = 100;
const CURRENCIES = ['EUR', 'USD', 'GBP', 'JPY'];
const STATUSES = ['new', 'paid', 'packed', 'shipped'];
const NAMES = ['Ada Okafor', 'Grace Lindqvist', 'Zoë Müller', 'Jun 田中', 'Émile Dubois', 'Sofía Rojas'];

const noRecord = (_index: number) => false;
const everySecond = (index: number) => index % 2 === 1;

/** Topics of the same orders: another seed gives the same keys other values. */
const TOPICS = {
  orders: { seed: 1, isBroken: noRecord },
  again: { seed: 2, isBroken: noRecord },
  broken: { seed: 1, isBroken: (index: number) => index % BROKEN_EVERY === BROKEN_EVERY / 2 },
  events: { seed: 1, event: { hasSchema: false, isKept: noRecord } },
  eventsAgain: { seed: 2, event: { hasSchema: false, isKept: noRecord } },
  kept: { seed: 3, event: { hasSchema: false, isKept: everySecond } },
  withSchema: { seed: 1, event: { hasSchema: true, isKept: noRecord } },
} as const satisfies Record<string, TopicPlan>;

/** What is produced to a topic: orders as they are, or Debezium's events of them. */
interface TopicPlan {
  readonly seed: number;
  /** Orders whose total is no number. @default none */
  readonly isBroken?: (index: number) => boolean;
  /** @default the order is the value */
  readonly event?: EventForm;
}

const FLAT = { fields: 'camelCase' } as const;
const EVENT = { key: 'id', envelope: 'debezium', columns: { items: { from: 'items', as: 'json' } } } as const;

/** The ways that are measured, in their order: those that find rows find those of the way before. */
export const MEASURED_WAYS = {
  records: { title: 'records: jsonb in one table', topic: 'orders' },
  append: { title: 'append: ten typed columns', topic: 'orders', tables: FLAT },
  poison: { title: 'append, 1 % does not fit a column', topic: 'broken', tables: FLAT },
  newKeys: { title: 'upsert of new keys', topic: 'orders', tables: { ...FLAT, key: 'id' } },
  oldKeys: {
    title: 'upsert of the same keys, other values',
    topic: 'again',
    tables: { ...FLAT, key: 'id' },
    findsRows: true,
  },
  events: { title: 'change events of new keys', topic: 'events', tables: EVENT },
  eventsAgain: { title: 'change events of the same keys', topic: 'eventsAgain', tables: EVENT, findsRows: true },
  kept: { title: 'the same, 50 % keep a large value', topic: 'kept', tables: EVENT, findsRows: true },
  withSchema: {
    title: 'change events with schema, new keys',
    topic: 'withSchema',
    tables: { key: 'id', envelope: 'debezium' },
  },
  jdbcSink: { title: "the same by Debezium's JDBC sink", topic: 'withSchema', isSink: true },
} as const satisfies Record<string, WayPlan>;

/** How the records of a topic are written. */
interface WayPlan {
  readonly title: string;
  readonly topic: keyof typeof TOPICS;
  /** The entry of the setting `tables`, but for topic and table. @default the records go to `records` */
  readonly tables?: object;
  /** Whether the rows of the way before are in the table. @default it is empty */
  readonly findsRows?: boolean;
  /** Whether Debezium's sink writes them in the place of the consumer. @default false */
  readonly isSink?: boolean;
}

type Way = keyof typeof MEASURED_WAYS;
const WAYS = Object.keys(MEASURED_WAYS) as readonly Way[];

const RATIOS: readonly { readonly what: string; readonly of: Way; readonly to: Way; readonly goal: number }[] = [
  { what: 'append / records', of: 'append', to: 'records', goal: 0.9 },
  { what: 'upsert of new keys / append', of: 'newKeys', to: 'append', goal: 0.6 },
  { what: 'upsert of the same keys / append', of: 'oldKeys', to: 'append', goal: 0.5 },
  { what: 'append with 1 % / append', of: 'poison', to: 'append', goal: 0.5 },
  { what: 'change events / upsert of new keys', of: 'events', to: 'newKeys', goal: 0.7 },
  { what: 'change events with schema / without', of: 'withSchema', to: 'events', goal: 0.8 },
  { what: 'change events that keep / that do not', of: 'kept', to: 'eventsAgain', goal: 0.5 },
  { what: "change events with schema / by Debezium's sink", of: 'withSchema', to: 'jdbcSink', goal: 1.5 },
];

/** One way: its medians over the repeats. */
export interface WayResult {
  readonly way: Way;
  readonly median: ConsumeResult;
}

/** A ratio of rows per second within one repeat. */
interface Ratio {
  readonly what: string;
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly goal: number;
}

interface TablesPlan {
  readonly records: number;
  readonly partitions: number;
  readonly repeats: number;
}

/** An order as a row, and so in an event. */
export interface BenchOrder {
  readonly id: number;
  readonly customer_id: number;
  /** A decimal with two digits behind the point. */
  readonly total: string;
  readonly placed_at: string;
  readonly gift: boolean;
  readonly payment_id: string;
  readonly currency: string;
  readonly status: string;
  readonly customer_name: string;
  readonly items: readonly object[];
}

function orderAt(seed: number, index: number): BenchOrder {
  const random = randomSource(seed, index);
  const cents = String(100 + random.below(900_000));
  return {
    id: index,
    total: `${cents.slice(0, -2)}.${cents.slice(-2)}`,
    placed_at: new Date(FIRST_AT + index * 37).toISOString(),
    gift: random.below(5) === 0,
    payment_id: uuid(random),
    currency: pick(random, CURRENCIES),
    status: pick(random, STATUSES),
    customer_name: pick(random, NAMES),
    items: [{ sku: 1_000 + random.below(9_000), quantity: 1 + random.below(4) }],
    customer_id: random.below(20_000),
  };
}

/** An order as a message of its key: about 240 bytes of JSON, or an event of it. */
function orderMessage(topic: keyof typeof TOPICS, index: number): Message {
  const { seed, event, isBroken = noRecord }: TopicPlan = TOPICS[topic];
  const order = orderAt(seed, index);
  if (event !== undefined) {
    return eventMessage(index, order, event);
  }
  const rest = {
    placedAt: order.placed_at,
    gift: order.gift,
    paymentId: order.payment_id,
    currency: order.currency,
    status: order.status,
    customerName: order.customer_name,
    items: order.items,
  };
  const total = isBroken(index) ? '"much"' : order.total;
  const json = `{"id":${index},"customerId":${order.customer_id},"total":${total},${JSON.stringify(rest).slice(1)}`;
  return { key: String(index), value: json };
}

/**
 * Measures each way once in each repeat, one after the other on the same servers, each from an empty schema.
 *
 * @param env environment variables of the consumer
 * @param onProgress told of what takes long
 */
export async function measureTables(
  stack: Stack,
  plan: TablesPlan,
  env: Record<string, string>,
  onProgress: (text: string) => void,
): Promise<{ readonly ways: readonly WayResult[]; readonly ratios: readonly Ratio[] }> {
  const { records, partitions, repeats } = plan;
  const kafka = new Kafka({ clientId: 'bench', brokers: [stack.kafka?.broker ?? ''], logLevel: logLevel.NOTHING });
  for (const topic of Object.keys(TOPICS) as readonly (keyof typeof TOPICS)[]) {
    onProgress(`producing ${records.toLocaleString('en')} records to ${topic} ...`);
    const messageAt = (index: number) => orderMessage(topic, index);
    await produceRecords(kafka, { topic, partitions, records, perRequest: PER_REQUEST, messageAt });
  }
  const results = Object.fromEntries(WAYS.map((way) => [way, [] as ConsumeResult[]])) as Record<Way, ConsumeResult[]>;
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    for (const way of WAYS) {
      const schema = `bench_${way.toLowerCase()}_${repeat}`;
      const result = await measureWay(stack, way, { schema, records, partitions }, env);
      results[way].push(result);
      onProgress(`${repeat}/${repeats} ${way}: ${Math.round(result.rowsPerSecond).toLocaleString('en')} rows/s`);
    }
  }
  const ways = WAYS.map((way) => ({ way, median: medianResult(results[way]) }));
  return { ways, ratios: RATIOS.map((ratio) => ratioOf(ratio, results)) };
}

interface MeasuredRun {
  /** PostgreSQL schema of the consumer's own tables. */
  readonly schema: string;
  readonly records: number;
  readonly partitions: number;
}

async function measureWay(
  stack: Stack,
  way: Way,
  { schema, records, partitions }: MeasuredRun,
  env: Record<string, string>,
): Promise<ConsumeResult> {
  const { topic, tables, findsRows, isSink }: WayPlan = MEASURED_WAYS[way];
  const client = await connectTo({ connectionString: stack.postgres?.urlWithPassword });
  try {
    if (findsRows !== true) {
      await client.query(`DROP SCHEMA IF EXISTS bench CASCADE; CREATE SCHEMA bench; ${TABLE_DDL}`);
    }
    await client.query('CHECKPOINT');
    if (isSink === true) {
      const lastIds = Array.from({ length: Math.min(partitions, records) }, (_, nth) => records - 1 - nth);
      return await consumeBacklog(
        stack,
        () => startJdbcSink(stack, { topic, table: TABLE, name: schema, lastIds }),
        records,
      );
    }
    const entry = { topic, table: TABLE, ...tables };
    const target = tables === undefined ? { schema, topics: [topic] } : { schema, topics: [], tables: [entry] };
    return await consumeBacklog(stack, () => startConsumer(stack, target, env), records);
  } finally {
    await client.end();
  }
}

function ratioOf(
  { what, of, to, goal }: (typeof RATIOS)[number],
  results: Readonly<Record<Way, readonly ConsumeResult[]>>,
): Ratio {
  const ratios = results[of].map(
    ({ rowsPerSecond }, repeat) => rowsPerSecond / (results[to][repeat]?.rowsPerSecond ?? Number.NaN),
  );
  return { what, goal, median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
}
