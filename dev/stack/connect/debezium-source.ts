import { join } from 'node:path';
import pg from 'pg';
import type { RunFolder } from '../../run/run-folder.ts';
import { type LocalPostgres, startLocalPostgres } from '../local-postgres.ts';
import type { JarSet, Progress } from '../maven-jars.ts';
import { type Connector, type ConnectProperties, type LocalConnect, startLocalConnect } from './local-connect.ts';

const SOURCE_JARS: JarSet = {
  name: 'Debezium source',
  pom: join(import.meta.dirname, 'source', 'pom.xml'),
  download: '41 MB, about 30 s',
};
const AVRO_SOURCE_JARS: JarSet = {
  ...SOURCE_JARS,
  name: 'Debezium source with Avro',
  profile: 'avro',
  download: '65 MB, about 40 s',
};
/** Debezium's words when the snapshot is over and it begins to follow the log. */
const STREAMING = /Processing messages \(PostgresStreaming/;
/** Each connector needs a separate slot and sender. */
const LOGICAL_DECODING = { wal_level: 'logical', max_wal_senders: '10', max_replication_slots: '10' };
/** Connectors that start together would race to make it. */
const PUBLICATION = 'all_tables';

/** Starts a PostgreSQL with logical decoding, whose tables Debezium can follow. */
export const startSourcePostgres = (run: RunFolder): Promise<LocalPostgres> =>
  startLocalPostgres(run, { name: 'Source PostgreSQL', settings: LOGICAL_DECODING });

/** How Debezium writes what it reads. */
export interface ChangeTopics {
  /** Topics are named `<prefix>.<schema>.<table>`. */
  readonly prefix: string;
  /** Whether each record brings its schema, `{"schema": ..., "payload": ...}`. */
  readonly hasSchemas: boolean;
  /** URL of Apicurio's registry: records are Avro behind the ids of its schemas. @default records are JSON */
  readonly registry?: string;
  /** Partitions of the topics that are made. */
  readonly partitions: number;
  /** Settings of the connector beside ours, or in their place. @default none */
  readonly properties?: ConnectProperties;
}

/**
 * Makes a publication of all tables, those that come later too, and starts a worker with a connector for each kind of
 * topics. It resolves when every connector has sent its snapshot and follows the log.
 *
 * @throws ExplainedError when a connector does not start, with the end of the worker's log
 */
export async function startDebezium(
  run: RunFolder,
  { source, broker, topics }: { source: LocalPostgres; broker: string; topics: readonly ChangeTopics[] },
  onProgress: Progress = () => undefined,
): Promise<LocalConnect> {
  const client = new pg.Client({ connectionString: source.urlWithPassword });
  await client.connect();
  try {
    await client.query(`CREATE PUBLICATION ${PUBLICATION} FOR ALL TABLES`);
  } finally {
    await client.end();
  }
  return startLocalConnect(run, {
    jars: topics.some(({ registry }) => registry !== undefined) ? AVRO_SOURCE_JARS : SOURCE_JARS,
    broker,
    connectors: topics.map((each) => connectorOf(source, each)),
    ready: STREAMING,
    onProgress,
  });
}

/** Name of the slot that the connector of a prefix reads. */
export const slotOf = (prefix: string): string => `slot_${prefix.replaceAll(/[^a-z0-9_]/g, '_')}`;

/** Settings of a converter of keys or values, whose names begin with the part's. */
function converterOf({ hasSchemas, registry }: ChangeTopics): ConnectProperties {
  return registry === undefined
    ? {
        converter: 'org.apache.kafka.connect.json.JsonConverter',
        'converter.schemas.enable': hasSchemas,
        'converter.replace.null.with.default': false,
      }
    : {
        converter: 'io.apicurio.registry.utils.converter.AvroConverter',
        'converter.apicurio.registry.url': `${registry}/apis/registry/v2`,
        'converter.apicurio.registry.auto-register': true,
        'converter.apicurio.registry.headers.enabled': false,
        'converter.apicurio.registry.as-confluent': true,
        'converter.apicurio.registry.use-id': 'contentId',
      };
}

/**
 * The connector, with what a sink can only repair at the source: NULL is kept where a column has a default, months
 * stay.
 */
function connectorOf(source: LocalPostgres, topics: ChangeTopics): Connector {
  const { prefix, partitions, properties } = topics;
  const { hostname, port } = new URL(source.url);
  const converters = ['key', 'value'].flatMap((part) =>
    Object.entries(converterOf(topics)).map(([name, value]) => [`${part}.${name}`, value] as const),
  );
  return {
    name: prefix,
    properties: {
      'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
      'database.hostname': hostname,
      'database.port': port,
      'database.user': 'postgres',
      'database.password': source.password,
      'database.dbname': 'postgres',
      'topic.prefix': prefix,
      'plugin.name': 'pgoutput',
      'slot.name': slotOf(prefix),
      'publication.name': PUBLICATION,
      'publication.autocreate.mode': 'disabled',
      'interval.handling.mode': 'string',
      'poll.interval.ms': 100,
      'retriable.restart.connector.wait.ms': 1_000,
      'topic.creation.default.replication.factor': -1,
      'topic.creation.default.partitions': partitions,
      ...Object.fromEntries(converters),
      ...properties,
    },
  };
}
