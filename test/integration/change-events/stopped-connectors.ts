import { expect, test } from '@jest/globals';
import type { SourceTable } from '../../../dev/change-events/source-tables.ts';
import { deathOf } from '../../../dev/stack/connect/local-connect.ts';
import { until } from '../stack/until.ts';
import { ownTopics, startSource, WITH_SCHEMA } from './source.ts';

const NUMBERS: SourceTable = { name: 'numbers', columns: ['id integer', 'exact numeric'], key: ['id'] };
const WIDE: SourceTable = {
  name: 'wide',
  columns: ['id integer', 'title text', 'flags boolean[]'],
  key: ['id'],
  large: ['flags'],
};

const FAILING = { 'event.converting.failure.handling.mode': 'fail' };

/** Registers the tests of connectors that stop where they would lose something. */
export function testStoppedConnectors(): void {
  test('with precise numbers, and that is to fail, does not start where a snapshot has NaN', async () => {
    const topics = [ownTopics({ ...WITH_SCHEMA, properties: FAILING }, 1)];
    const starting = startSource([NUMBERS], topics, (client) => client.query(`INSERT INTO numbers VALUES (1, 'NaN')`));
    await expect(starting).rejects.toThrow(/^Kafka Connect failed to start(.|\n)*public\.numbers\.exact/);
  });

  test('that is to fail stops at a large value without a placeholder that did not change', async () => {
    const topics = [ownTopics({ ...WITH_SCHEMA, properties: FAILING }, 1)];
    const { client, debezium } = await startSource([WIDE], topics, (filled) =>
      filled.query(`INSERT INTO wide SELECT 1, 'a', array_agg(i % 2 = 0) FROM generate_series(1, 3000) AS i`),
    );
    await client.query(`UPDATE wide SET title = 'b', flags = flags || true`);
    await client.query(`UPDATE wide SET title = 'c'`);
    await until('the connector to stop', async () => (debezium.taskDied.aborted ? true : undefined));
    expect(deathOf(debezium).join('\n')).toContain('flags');
  });
}
