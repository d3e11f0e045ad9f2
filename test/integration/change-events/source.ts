import type pg from 'pg';
import { type ChangeSource, startChangeSource } from '../../../dev/change-events/change-source.ts';
import type { SourceTable } from '../../../dev/change-events/source-tables.ts';
import type { ChangeTopics } from '../../../dev/stack/connect/debezium-source.ts';
import { kafkaClient } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedBroker } from '../stack/shared-stack.ts';
import { testRun } from '../stack/test-run.ts';

/** Records without a schema: times and decimals are text then. */
export const WITHOUT_SCHEMA = {
  hasSchemas: false,
  properties: {
    'time.precision.mode': 'isostring',
    'decimal.handling.mode': 'string',
    'hstore.handling.mode': 'json',
  },
};

/** Records that bring their schema, which says what their numbers are. */
export const WITH_SCHEMA = { hasSchemas: true, properties: { 'hstore.handling.mode': 'json' } };

/** Avro behind the ids of Apicurio's registry. */
export const inAvro = (registry: string) => ({
  hasSchemas: true,
  registry,
  properties: {
    'hstore.handling.mode': 'json',
    'schema.name.adjustment.mode': 'avro',
    'field.name.adjustment.mode': 'avro',
  },
});

/** Topics of the shared Kafka with a prefix that no other test has. */
export const ownTopics = (kind: Omit<ChangeTopics, 'prefix' | 'partitions'>, partitions: number): ChangeTopics => ({
  ...kind,
  partitions,
  prefix: randomName('source'),
});

/** A source of tables, whose events go to the shared Kafka; it ends with the test file. */
export async function startSource(
  tables: readonly SourceTable[],
  topics: readonly ChangeTopics[],
  fill: (source: pg.Client) => Promise<unknown>,
): Promise<ChangeSource> {
  return startChangeSource(await testRun(), {
    kafka: kafkaClient(),
    brokers: sharedBroker(),
    tables,
    topics,
    fill: async (client) => fill(client),
  });
}
