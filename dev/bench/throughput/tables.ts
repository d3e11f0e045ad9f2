import { Kafka, logLevel } from 'kafkajs';
import type { Stack } from '../../stack/local-stack.ts';
import { SchemaServer } from '../../stack/schema-server.ts';
import { connectTo, startConsumer } from '../measured-program.ts';
import { produceRecords } from '../produce-records.ts';
import { orderSchema } from './avro-orders.ts';
import { startJdbcSink } from './jdbc-sink.ts';
import { isRegistered, orderMessage, TOPICS } from './order-topics.ts';
import { PROTO_ORDER_ID, PROTO_SCHEMA } from './protobuf-orders.ts';
import { type ConsumeResult, consumeBacklog, median, medianResult } from './throughput.ts';

const TABLE = 'bench.orders';
/** A table of orders. Ten columns: those of the measurements that the tables were designed by. */
export const orderTable = (name: string): string => `CREATE TABLE ${name} (
  id bigint PRIMARY KEY, customer_id integer NOT NULL, total numeric(12,2) NOT NULL, placed_at timestamptz NOT NULL,
  gift boolean NOT NULL, payment_id uuid NOT NULL, currency text NOT NULL, status text NOT NULL,
  customer_name text NOT NULL, items jsonb NOT NULL)`;

/** Events with a schema have 5 kB: a batch of them stays below a broker's default limit of 1 MB. */
const EVENTS_IN_A_BATCH = 150;

/** A replica. Without a schema the settings say that a text is JSON. */
const REPLICA = { key: 'id', envelope: 'debezium' } as const;
const ITEMS = { columns: { items: { from: 'items', as: 'json' } } } as const;

/** The ways that are measured, in their order: the second upsert finds the rows of the first one. */
export const MEASURED_WAYS = {
  records: { title: 'records: jsonb in one table', topic: 'orders', tables: undefined },
  append: { title: 'append: ten typed columns', topic: 'orders', tables: {} },
  avro: { title: 'append of Avro', topic: 'avro', tables: {} },
  protobuf: { title: 'append of Protobuf', topic: 'protobuf', tables: {} },
  poison: { title: 'append, 1 % does not fit a column', topic: 'broken', tables: {} },
  newKeys: { title: 'upsert of new keys', topic: 'orders', tables: { key: 'id' } },
  oldKeys: { title: 'upsert of the same keys, other values', topic: 'again', tables: { key: 'id' } },
  schemas: { title: 'change events with a schema, new keys', topic: 'eventsWithSchema', tables: REPLICA },
  events: { title: 'change events, new keys', topic: 'events', tables: { ...REPLICA, ...ITEMS } },
  changes: { title: 'change events, the same keys', topic: 'eventsAgain', tables: { ...REPLICA, ...ITEMS } },
  kept: { title: 'the same, half without large values', topic: 'eventsKept', tables: { ...REPLICA, ...ITEMS } },
  avroEvents: { title: 'change events in Avro, new keys', topic: 'avroEvents', tables: REPLICA },
  jdbcSink: { title: "with a schema, by Debezium's JDBC sink", topic: 'eventsWithSchema', tables: undefined },
} as const;

/** Ways that find the rows of the way before. */
const WITH_ROWS: readonly Way[] = ['oldKeys', 'changes', 'kept'];

type Way = keyof typeof MEASURED_WAYS;
const WAYS = Object.keys(MEASURED_WAYS) as readonly Way[];

const RATIOS: readonly { readonly what: string; readonly of: Way; readonly to: Way; readonly goal: number }[] = [
  { what: 'append / records', of: 'append', to: 'records', goal: 0.9 },
  { what: 'append of Avro / of JSON', of: 'avro', to: 'append', goal: 0.9 },
  { what: 'append of Protobuf / of JSON', of: 'protobuf', to: 'append', goal: 0.8 },
  { what: 'upsert of new keys / append', of: 'newKeys', to: 'append', goal: 0.6 },
  { what: 'upsert of the same keys / append', of: 'oldKeys', to: 'append', goal: 0.5 },
  { what: 'change events / upsert, new keys', of: 'events', to: 'newKeys', goal: 0.7 },
  { what: 'change events in Avro / upsert, new keys', of: 'avroEvents', to: 'newKeys', goal: 0.9 },
  { what: 'change events with a schema / without', of: 'schemas', to: 'events', goal: 0.8 },
  { what: 'change events, half kept / none', of: 'kept', to: 'changes', goal: 0.5 },
  { what: "change events with a schema / by Debezium's sink", of: 'schemas', to: 'jdbcSink', goal: 1.5 },
  { what: 'append with 1 % / append', of: 'poison', to: 'append', goal: 0.5 },
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

/**
 * Measures each way once in each repeat, one after the other on the same servers, each from an empty schema.
 *
 * @param env environment variables of the consumer
 * @param onProgress called with what takes long
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
    const perRequest = 'events' in TOPICS[topic] ? { perRequest: EVENTS_IN_A_BATCH * partitions } : {};
    const messageAt = (index: number) => orderMessage(topic, index);
    await produceRecords(kafka, { topics: [topic], partitions, records, messageAt, ...perRequest });
  }
  const registry = await SchemaServer.listen((id) => (id === PROTO_ORDER_ID ? PROTO_SCHEMA : orderSchema(id)));
  const results = Object.fromEntries(WAYS.map((way) => [way, []])) as unknown as Record<Way, ConsumeResult[]>;
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    for (const way of WAYS) {
      const schema = `bench_${way.toLowerCase()}_${repeat}`;
      const run = { schema, records, partitions, registry: registry.url };
      const result = await measureWay(stack, way, run, env);
      results[way].push(result);
      onProgress(`${repeat}/${repeats} ${way}: ${Math.round(result.rowsPerSecond).toLocaleString('en')} rows/s`);
    }
  }
  await registry.close();
  const ways = WAYS.map((way) => ({ way, median: medianResult(results[way]) }));
  return { ways, ratios: RATIOS.map((ratio) => ratioOf(ratio, results)) };
}

/** Debezium's sink has no names of columns but those of the fields. */
const SINK_COLUMNS = ['customer_id', 'placed_at', 'payment_id', 'customer_name'].map(
  (column) =>
    `ALTER TABLE ${TABLE} RENAME ${column} TO "${column.replace(/_(.)/, (_, letter) => letter.toUpperCase())}"`,
);

async function measureSink(
  stack: Stack,
  topic: string,
  { schema, records, partitions }: MeasuredRun,
): Promise<ConsumeResult> {
  const lastIds = Array.from({ length: Math.min(partitions, records) }, (_, nth) => records - 1 - nth);
  const target = { topic, table: TABLE, name: schema, lastIds };
  return consumeBacklog(stack, () => startJdbcSink(stack, target), records);
}

interface MeasuredRun {
  /** Schema of the consumer's own tables; no other run has it. */
  readonly schema: string;
  readonly records: number;
  readonly partitions: number;
  /** URL of the registry that has the schemas of what is Avro. */
  readonly registry: string;
}

async function measureWay(
  stack: Stack,
  way: Way,
  run: MeasuredRun,
  env: Record<string, string>,
): Promise<ConsumeResult> {
  const { topic, tables } = MEASURED_WAYS[way];
  const { schema, records } = run;
  const client = await connectTo({ connectionString: stack.postgres?.urlWithPassword });
  try {
    if (!WITH_ROWS.includes(way)) {
      await client.query(`DROP SCHEMA IF EXISTS bench CASCADE; CREATE SCHEMA bench; ${orderTable(TABLE)}`);
    }
    if (way === 'jdbcSink') {
      await client.query(SINK_COLUMNS.join(';'));
      await client.query('CHECKPOINT');
      return await measureSink(stack, topic, run);
    }
    await client.query('CHECKPOINT');
    const entry = { topic, table: TABLE, fields: 'camelCase', ...tables };
    const schemaRegistry = isRegistered(topic) ? run.registry : undefined;
    const target =
      tables === undefined ? { schema, topics: [topic] } : { schema, topics: [], tables: [entry], schemaRegistry };
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
