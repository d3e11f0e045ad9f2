import { expect, test } from '@jest/globals';
import { OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { query } from '../stack/database.ts';
import { longTest } from '../stack/long-test.ts';
import { until } from '../stack/until.ts';
import { connect } from '../store/open-store.ts';
import { type KeyedRecord, keyedRequest, openKeyed } from './open-keyed.ts';

const DDL = 'CREATE TABLE ?.seats (id int PRIMARY KEY, taken text)';
const TABLES = [{ table: '?.seats', key: 'id' }];

const seat = (id: number, taken: string): KeyedRecord => ({ value: { id, taken } });
const gone = (id: number): KeyedRecord => ({ key: String(id), value: null });

/** Waits for a lock. */
const awaitLock = (condition: string): Promise<true> =>
  until(condition, async () =>
    (await query(`SELECT FROM pg_locks WHERE ${condition}`)).length > 0 ? true : undefined,
  );

/** Lets a write of the keys 1 and 2 wait for a session that waits for it. */
async function deadlocked(store: Awaited<ReturnType<typeof openKeyed>>): Promise<unknown> {
  const session = await connect();
  // PostgreSQL ends the transaction whose time-out finds the deadlock: not this one.
  await session.query(`SET deadlock_timeout = '60s'; BEGIN; SELECT FROM ${store.schema}.seats WHERE id = 2 FOR UPDATE`);
  const { rows } = await session.query<{ xid: string }>('SELECT pg_current_xact_id()::xid::text AS xid');
  const failed = store.write([seat(1, 'A'), seat(2, 'A')]).catch((error: unknown) => error);
  // PostgreSQL looks for a deadlock once, a second after a wait began: the session itself waits for the write's wait.
  await session.query(`DO $$ BEGIN
    WHILE NOT EXISTS (
      SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid' AND transactionid::text = '${rows[0]?.xid}')
    LOOP PERFORM pg_sleep(0.01); END LOOP;
    PERFORM FROM ${store.schema}.seats WHERE id = 1 FOR UPDATE; END $$`);
  await session.query('ROLLBACK');
  await session.end();
  return failed;
}

test('after a deadlock the transaction is written again, and those with deletes go one after the other', async () => {
  const contended: string[] = [];
  const store = await openKeyed({
    ddl: DDL,
    tables: TABLES,
    partitions: 2,
    onContended: (table) => contended.push(table),
  });
  const { schema, sink, topic, run, letters } = store;
  await sink.write(keyedRequest(topic, 0n, [seat(1, 'B'), seat(2, 'B'), seat(3, 'B')], 1));
  expect(await deadlocked(store)).toBeInstanceOf(OutageError);
  expect(contended).toEqual([`${schema}.seats`]);
  expect(await sink.write(keyedRequest(topic, 0n, [seat(1, 'A'), seat(2, 'A')]))).toMatchObject({ kind: 'committed' });
  const session = await connect();
  await session.query(`BEGIN; LOCK TABLE ${schema}.seats IN SHARE ROW EXCLUSIVE MODE`);
  const withDelete = sink.write(keyedRequest(topic, 2n, [gone(1)]));
  await awaitLock(
    `granted AND locktype = 'advisory' AND objid = '${schema}.seats'::regclass AND mode = 'ExclusiveLock'`,
  );
  await session.query('ROLLBACK');
  expect(await withDelete).toMatchObject({ kind: 'committed' });
  expect(await run('SELECT id, taken FROM ?.seats ORDER BY id')).toEqual([
    { id: 2, taken: 'A' },
    { id: 3, taken: 'B' },
  ]);
  expect(await letters()).toEqual([]);
});

const [WRITERS, DELETES] = [4, 0.2];

for (const { keys, length } of [
  { keys: 2_000, length: 400 },
  { keys: 20, length: 4 },
]) {
  longTest(
    `four writers with the same ${keys} keys and deletes, ${length} records at once, for a minute: no dead letter, and each key as one of them left it`,
    async () => {
      const store = await openKeyed({ ddl: DDL, tables: TABLES, partitions: WRITERS });
      const { sink, topic, run, letters } = store;
      const end = Date.now() + 60_000;
      const write = async (partition: number): Promise<ReadonlyMap<number, string | null>> => {
        const last = new Map<number, string | null>();
        for (let offset = 0n; Date.now() < end; offset += BigInt(length)) {
          const records = Array.from({ length }, (_, nth): KeyedRecord => {
            const id = Math.floor(Math.random() * keys);
            const taken = Math.random() < DELETES ? null : `${partition}/${offset}/${nth}`;
            last.set(id, taken);
            return taken === null ? gone(id) : seat(id, taken);
          });
          const request = keyedRequest(topic, offset, records, partition);
          for (let outcome = ''; outcome !== 'committed'; ) {
            outcome = await sink.write(request).then(({ kind }) => kind, passing);
          }
        }
        return last;
      };
      const lasts = await Promise.all(Array.from({ length: WRITERS }, (_, partition) => write(partition)));
      expect(await letters()).toEqual([]);
      const found = new Map((await run('SELECT id, taken FROM ?.seats')).map(({ id, taken }) => [id, taken]));
      for (let id = 0; id < keys; id += 1) {
        expect(lasts.map((last) => last.get(id) ?? null)).toContain(found.get(id) ?? null);
      }
    },
  );
}

/** A deadlock, or a lock that is held for too long, passes: the transaction is written again. */
function passing(error: unknown): string {
  if (error instanceof OutageError) {
    return error.reason;
  }
  throw error;
}
