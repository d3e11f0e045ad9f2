import { describe, expect, test } from '@jest/globals';
import { until } from '../stack/until.ts';
import { aRequest } from '../store/open-store.ts';
import { committed, fatal, heldUp, open, PARTITIONS } from './open-two-topics.ts';

/** What a table's trigger does. */
const triggered = (statement: string): string => `CREATE OR REPLACE FUNCTION ?.triggered() RETURNS trigger
  LANGUAGE plpgsql AS $$ BEGIN ${statement}; RETURN NEW; END $$;`;

/** A table with a trigger that raises an error by PostgreSQL's name for it. */
const failingTable = (condition: string): string => `CREATE TABLE ?.orders (id int);
  ${triggered(`RAISE EXCEPTION 'fails' USING ERRCODE = '${condition}'`)}
  CREATE TRIGGER fails BEFORE INSERT ON ?.orders FOR EACH ROW EXECUTE FUNCTION ?.triggered()`;

describe('what shares a transaction with a table is written without it, while the table', () => {
  test.each([
    ['object_not_in_prerequisite_state', Number.POSITIVE_INFINITY],
    ['query_canceled', Number.POSITIVE_INFINITY],
    ['sqlclient_unable_to_establish_sqlconnection', Number.POSITIVE_INFINITY],
    ['connection_failure', Number.POSITIVE_INFINITY],
    ['read_only_sql_transaction', Number.POSITIVE_INFINITY],
    ['internal_error', 10],
    ['fdw_error', 10],
  ])('has a trigger whose statement fails for now, with %s', async (condition, attempts) => {
    const { run, write, orders, offsets, count } = await open({ orders: failingTable(condition) });
    const writes = write();
    expect(await writes.totals).toEqual(committed);
    const outage = expect.objectContaining({ table: expect.stringMatching(/\.orders$/), attempts });
    expect(await writes.orders).toEqual(new Array(PARTITIONS).fill(outage));
    await run(triggered('NULL'));
    expect(await write().orders).toEqual(committed);
    expect([await offsets(orders), await count('dead_letters')]).toEqual([[1], 0]);
  });

  test.each(['undefined_table', 'insufficient_privilege', 'invalid_schema_name', 'invalid_password'])(
    'has a trigger whose statement fails until somebody mends it, with %s',
    async (condition) => {
      const { run, write, orders, offsets, count } = await open({ orders: failingTable(condition) });
      const writes = write();
      expect(await writes.totals).toEqual(committed);
      const failed = await writes.orders;
      expect(failed).toEqual(fatal('TABLE_REFUSES_ROWS'));
      expect(failed[0]).toMatchObject({ message: expect.stringMatching(/orders refuses rows: SQLSTATE \w+: fails/) });
      await run(triggered('NULL'));
      expect(await write().orders).toEqual(committed);
      expect([await offsets(orders), await count('dead_letters')]).toEqual([[1], 0]);
    },
  );

  test('has a trigger that takes longer than a statement may; its next writes wait for it on one connection', async () => {
    const { totals, sink, write, sessions, count } = await open({
      orders: `CREATE TABLE ?.orders (id int);
        ${triggered('PERFORM pg_sleep(60)')}
        CREATE TRIGGER sleeps BEFORE INSERT ON ?.orders FOR EACH STATEMENT EXECUTE FUNCTION ?.triggered()`,
      statementTimeout: '1s',
    });
    const writes = write();
    expect(await writes.totals).toEqual(committed);
    expect(await writes.orders).toEqual(heldUp);
    const again = write();
    const asleep = () => sessions(`wait_event = 'PgSleep'`);
    await until('the trigger of one of them', async () => ((await asleep()).length > 0 ? true : undefined));
    const next = Array.from({ length: PARTITIONS }, (_, partition) =>
      sink.write(aRequest(totals, 1n, ['{"id": 7}'], partition)),
    );
    expect(await Promise.all(next)).toEqual(committed);
    expect(await asleep()).toHaveLength(1);
    expect(await again.orders).toEqual(heldUp);
    expect(await count('dead_letters')).toBe(0);
  });
});
