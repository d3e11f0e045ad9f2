import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type SourceTable, sourceTableSql } from '../../../dev/change-events/source-tables.ts';
import { randomName } from '../stack/random-name.ts';
import { until } from '../stack/until.ts';
import { DatabaseReplica } from './database-replica.ts';
import { HandMadeChanges } from './hand-made-changes.ts';

const table = (name: string): SourceTable => ({ name, columns: ['id integer', 'name text NOT NULL'], key: ['id'] });
const NAMES = Array.from({ length: 60 }, (_, nth) => `table_${nth}`);
const [DROPPED, LOCKED, LATE] = ['table_7', 'table_31', 'late'] as const;

const seed = randomInt(2 ** 32);
const prefix = randomName('source');
const changes = new HandMadeChanges(prefix, seed);
let replica: DatabaseReplica;

beforeAll(async () => {
  await changes.create(...NAMES);
  replica = await DatabaseReplica.start({ prefix, tables: NAMES.map(table), topicRefresh: '1s' });
  await changes.start();
  await replica.allStored();
});

afterAll(async () => {
  await changes.stop();
  await replica.remove();
});

/** While a table is locked and another one is gone, all others are written, also by the next consumer. */
async function lockAndKill(): Promise<void> {
  const holder = await replica.session();
  await holder.query(`BEGIN; LOCK TABLE ${LOCKED} IN ACCESS EXCLUSIVE MODE`);
  await replica.query(`DROP TABLE ${DROPPED}`);
  await replica.awaitWaiting(`${DROPPED} TABLES_DO_NOT_FIT`, `${LOCKED} database_busy`);
  changes.drop(DROPPED);
  await replica.kill();
  await replica.allStored(DROPPED, LOCKED);
  await holder.end();
}

test('60 tables by one rule have the rows of their topics, where topics come and go, a table is locked and the consumer is killed', async () => {
  await lockAndKill();
  await replica.query(sourceTableSql('public', table(LATE)));
  await changes.create(LATE);
  replica.expects(LATE);
  await until('a row of the late table', async () => {
    const rows = await replica.query(`SELECT FROM ${LATE}`);
    return rows.length > 0 ? true : undefined;
  });
  await changes.stop();
  await replica.allStored(DROPPED);
  const names = [...NAMES.filter((name) => name !== DROPPED), LATE];
  const found = await Promise.all(names.map((name) => replica.query(`SELECT id, name FROM ${name} ORDER BY id`)));
  expect({ seed, found }).toEqual({ seed, found: names.map((name) => changes.rows(name)) });
  expect([await replica.deadLetters(), await replica.recordRows()]).toEqual([[], 0]);
  replica.consumer.kill('SIGTERM');
  expect(await replica.consumer.exited).toMatchObject({ code: 0 });
});
