import { join } from 'node:path';
import type { ExitStatus } from '../../run/owned-process.ts';
import { type LocalConnect, startLocalConnect } from '../../stack/connect/local-connect.ts';
import type { Stack } from '../../stack/local-stack.ts';
import type { JarSet } from '../../stack/maven-jars.ts';
import { connectTo, type StartedProgram } from '../measured-program.ts';

const SINK_JARS: JarSet = {
  name: 'Debezium sink',
  pom: join(import.meta.dirname, '..', '..', 'stack', 'connect', 'sink', 'pom.xml'),
  download: '73 MB, about 40 s',
};
/** Once its task has its partitions or is about to get them. */
const STARTED = /Sink task finished initialization and start/;
/** As many as a transaction of its writes; the default of 500 halves its rate. */
const BATCH = 5_000;

/** What a sink reads, and where it writes to. */
interface SinkTarget {
  readonly topic: string;
  /** `schema.table`, which is there and has the primary key `id`. */
  readonly table: string;
  /** Name of the connector, and so of its group. */
  readonly name: string;
  /** Ids of the last record of each partition. */
  readonly lastIds: readonly number[];
}

/** Debezium's sink for JDBC, with a Java machine that has 1 GB and all of its compilers. */
export async function startJdbcSink(
  stack: Stack,
  { topic, table, name, lastIds }: SinkTarget,
): Promise<StartedProgram> {
  const { hostname, port } = new URL(stack.postgres?.url ?? '');
  const connect = await startLocalConnect(stack.run, {
    jars: SINK_JARS,
    broker: stack.kafka?.broker ?? '',
    ready: STARTED,
    jvm: ['-Xmx1g'],
    worker: { 'consumer.max.poll.records': BATCH },
    connectors: [
      {
        name,
        properties: {
          'connector.class': 'io.debezium.connector.jdbc.JdbcSinkConnector',
          topics: topic,
          'connection.url': `jdbc:postgresql://${hostname}:${port}/postgres?reWriteBatchedInserts=true&stringtype=unspecified`,
          'connection.username': 'postgres',
          'connection.password': stack.postgres?.password ?? '',
          'collection.name.format': table,
          'insert.mode': 'upsert',
          'delete.enabled': true,
          'primary.key.mode': 'record_key',
          'primary.key.fields': 'id',
          'schema.evolution': 'none',
          'quote.identifiers': true,
          'batch.size': BATCH,
        },
      },
    ],
  });
  const client = await connectTo({ connectionString: stack.postgres?.urlWithPassword });
  return {
    pid: connect.pid,
    exited: Promise.race([connect.exited, deathOfTask(connect)]),
    logs: connect.logs,
    rows: rowsWithLastOnes(client, table, lastIds),
    stop: async () => {
      await connect.stop();
      await client.end();
    },
  };
}

/** A worker lives on without its task, which nobody should wait for. */
const deathOfTask = ({ taskDied }: LocalConnect): Promise<ExitStatus> =>
  new Promise((resolve) => {
    taskDied.addEventListener('abort', () => resolve({ code: 1, signal: null }), { once: true });
  });

/**
 * Rows of a table, exactly, where that is of use: the first ones, and all of them once the last row of each partition
 * is there. Counting each time would be work that PostgreSQL has for no other program.
 */
function rowsWithLastOnes(client: Awaited<ReturnType<typeof connectTo>>, table: string, lastIds: readonly number[]) {
  let first = 0;
  const count = async (where: string): Promise<number> => {
    const { rows } = await client.query<{ rows: string }>(`SELECT count(*) AS rows FROM ${table} ${where}`);
    return Number(rows[0]?.rows ?? 0);
  };
  return async (): Promise<number> => {
    if (first === 0) {
      first = await count('');
      return first;
    }
    const last = await count(`WHERE id IN (${lastIds.join(', ')})`);
    return last < lastIds.length ? first : count('');
  };
}
