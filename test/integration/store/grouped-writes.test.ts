import { beforeAll, describe, expect, test } from '@jest/globals';
import type { WriteRequest } from '../../../app/stream/ports/record-sink.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { aRequest as aRequestOf, connect, openStore } from './open-store.ts';

const PARTITIONS = 50;
const { schema, sink } = openStore();
let topic: string;

beforeAll(async () => {
  await sink.migrate();
});

/** A topic with all partitions at offset 0. */
async function freshTopic(): Promise<void> {
  topic = randomName('topic');
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => ({ topic, partition, offset: 0n }));
  await sink.initialize(topic, () => partitions);
}

const aRequest = (partition: number, value = '{}') => aRequestOf(topic, 0n, ['{}', value], partition);

const requests = () => Array.from({ length: PARTITIONS }, (_, partition) => aRequest(partition));

/** All requests in one turn of the event loop, which are one group. */
const write = (all: readonly WriteRequest[]) => Promise.all(all.map((request) => sink.write(request)));

/** Another writer in the middle of a transaction, until its connection ends. */
async function holdOffsets(which: string): Promise<{ end(): Promise<void> }> {
  const other = await connect();
  await other.query('BEGIN');
  await other.query(`SELECT FROM ${schema}.offsets WHERE topic = $1 AND ${which} FOR UPDATE`, [topic]);
  return other;
}

const kinds = (outcomes: readonly { readonly kind: string }[]) => new Set(outcomes.map(({ kind }) => kind));

/** Rows, dead letters, the transactions that they came by, and the sum of the stored offsets. */
async function stored() {
  const [found] = await query<{ rows: number; letters: number; transactions: number; offsets: number }>(
    `SELECT (SELECT count(*)::int FROM ${schema}.records WHERE topic = $1) AS rows,
            (SELECT count(*)::int FROM ${schema}.dead_letters WHERE topic = $1) AS letters,
            (SELECT count(DISTINCT xmin::text)::int FROM ${schema}.records WHERE topic = $1) AS transactions,
            (SELECT sum(next_offset)::int FROM ${schema}.offsets WHERE topic = $1) AS offsets`,
    [topic],
  );
  return found;
}

const ALL_ROWS = { rows: 2 * PARTITIONS, letters: 0, offsets: 2 * PARTITIONS };

test('small requests of fifty partitions are one transaction', async () => {
  await freshTopic();
  expect(kinds(await write(requests()))).toEqual(new Set(['committed']));
  expect(await stored()).toEqual({ ...ALL_ROWS, transactions: 1 });
});

describe('a partition', () => {
  test('whose offset another writer has moved is fenced, and the others are written', async () => {
    await freshTopic();
    await query(`UPDATE ${schema}.offsets SET next_offset = 1 WHERE topic = $1 AND partition = 7`, [topic]);
    const outcomes = await write(requests());
    expect(outcomes[7]).toEqual({ kind: 'fenced' });
    expect(kinds(outcomes.toSpliced(7, 1))).toEqual(new Set(['committed']));
    expect(await stored()).toMatchObject({ rows: ALL_ROWS.rows - 2, offsets: ALL_ROWS.offsets - 1 });
  });

  test('with poison has a dead letter, and the others are written', async () => {
    await freshTopic();
    const outcomes = await write(requests().with(9, aRequest(9, '{poison')));
    expect(kinds(outcomes)).toEqual(new Set(['committed']));
    expect(outcomes[9]).toMatchObject({ deadLetters: new Map([['invalid_json', 1]]), rows: new Map([['copy', 1]]) });
    expect(await stored()).toMatchObject({ ...ALL_ROWS, rows: ALL_ROWS.rows - 1, letters: 1 });
  });

  test('that another writer holds fails, and the others wait for nothing', async () => {
    await freshTopic();
    const other = await holdOffsets('partition < 30');
    const outcomes = await Promise.allSettled(requests().map((request) => sink.write(request)));
    const [held, others] = [outcomes.slice(0, 30), outcomes.slice(30)];
    expect(others).toEqual(
      others.map(() => ({ status: 'fulfilled', value: expect.objectContaining({ kind: 'committed' }) })),
    );
    const lockNotAvailable = expect.objectContaining({
      name: 'OutageError',
      message: expect.stringContaining('55P03'),
    });
    expect(held).toEqual(held.map(() => ({ status: 'rejected', reason: lockNotAvailable })));
    expect(await stored()).toMatchObject({ rows: 40, offsets: 40 });
    await other.end();
    expect(kinds(await write(requests().slice(0, 30)))).toEqual(new Set(['committed']));
    expect(await stored()).toMatchObject(ALL_ROWS);
  });

  test('that is in a group twice is written once, and fenced once', async () => {
    await freshTopic();
    const outcomes = await write([aRequest(0), aRequest(0)]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['committed', 'fenced']);
    expect(await stored()).toMatchObject({ rows: 2, offsets: 2 });
  });
});

test('a database with a stricter isolation level changes nothing', async () => {
  await freshTopic();
  await query(`CREATE FUNCTION ${schema}.refuse_other_levels() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN RAISE EXCEPTION 'another level'; END IF;
    RETURN NEW; END $$`);
  await query(`CREATE TRIGGER levels BEFORE INSERT ON ${schema}.records
    FOR EACH ROW EXECUTE FUNCTION ${schema}.refuse_other_levels()`);
  const { sink: strict } = openStore({ schema, isolation: 'serializable' });
  const poisoned = requests().with(9, aRequest(9, '{poison'));
  expect(kinds(await Promise.all(poisoned.map((request) => strict.write(request))))).toEqual(new Set(['committed']));
  expect(await stored()).toMatchObject({ ...ALL_ROWS, rows: ALL_ROWS.rows - 1, letters: 1 });
  await query(`DROP TRIGGER levels ON ${schema}.records`);
});

test('a record that is in the table already stops the consumer, and nothing of the group is written', async () => {
  await freshTopic();
  await query(
    `INSERT INTO ${schema}.records (topic, partition, "offset", timestamp, headers) VALUES ($1, 5, 0, now(), '{}')`,
    [topic],
  );
  await expect(write(requests())).rejects.toMatchObject({ name: 'FatalError', code: 'RECORD_ALREADY_WRITTEN' });
  expect(await stored()).toMatchObject({ rows: 1, offsets: 0 });
});
