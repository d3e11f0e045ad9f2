import { expect, it } from '@jest/globals';
import { unexpectedRows } from '../../../../dev/chaos/unexpected-rows.ts';
import type { ProducedRecord } from '../../../../dev/orders/produced-records.ts';
import { loadExpected } from '../../../../dev/verdict/expected-rows.ts';
import { withDatabase } from '../../stack/database.ts';

const record = (partition: number, offset: bigint): ProducedRecord => ({
  partition,
  offset,
  key: null,
  value: null,
  headers: [],
  reason: undefined,
});

it('finds rows at offsets, in partitions and of topics that nobody produced to', () =>
  withDatabase(async ({ client, schema }) => {
    await client.query(`
      CREATE SCHEMA ${schema};
      CREATE TABLE ${schema}.records (topic text, partition int, "offset" bigint);
      CREATE TABLE ${schema}.dead_letters (group_id text, topic text, partition int, "offset" bigint);
      INSERT INTO ${schema}.records VALUES ('t', 0, 0), ('t', 0, 2), ('t', 1, 0), ('other', 0, 0);
      INSERT INTO ${schema}.dead_letters VALUES ('g', 't', 0, 1), ('g', 't', 0, 3), ('another', 't', 0, 4)`);
    await loadExpected(client, [record(0, 0n), record(0, 1n)]);
    expect(await unexpectedRows(client, { schema, topic: 't', group: 'g' })).toMatchObject({
      isWell: false,
      found: '4',
      details: ['other/0/0', 't/0/2', 't/0/3', 't/1/0'],
    });
  }));
