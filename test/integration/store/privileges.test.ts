import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { missingPrivileges, neededPrivileges, requirePrivileges } from '../../../app/store/tables/privileges.ts';
import type { Settings } from '../../../settings/settings.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { connect, openStore } from './open-store.ts';

type Needing = Parameters<typeof neededPrivileges>[0];

const LETTERS = { to: 'table', maxRatio: 0.5 } as Settings['deadLetters'];

const needed = (
  letters: Partial<Settings['deadLetters']> = {},
  topics: readonly string[] = ['orders'],
  tables: readonly unknown[] = [],
) => neededPrivileges({ kafka: { topics }, tables, deadLetters: { ...LETTERS, ...letters } } as unknown as Needing);

const ALWAYS = {
  offsets: ['SELECT', 'INSERT', 'UPDATE'],
  gaps: ['INSERT'],
  filled_tables: ['SELECT', 'INSERT'],
  schema_migrations: ['SELECT'],
};

test.each<[string, ReturnType<typeof needed>, readonly string[], readonly string[]]>([
  ['nothing is set', needed(), ['SELECT', 'INSERT'], ['SELECT', 'INSERT']],
  ['letters are not counted', needed({ maxRatio: 1 }), ['INSERT'], ['INSERT']],
  ['letters go to a topic', needed({ to: 'topic' }), ['INSERT'], []],
  ['letters go to a topic, too', needed({ to: 'both' }), ['SELECT', 'INSERT'], ['SELECT', 'INSERT']],
  ['letters expire', needed({ maxRatio: 1, keep: '7d' }), ['INSERT'], ['SELECT', 'INSERT', 'DELETE']],
  ['no topic goes to records', needed({}, []), ['SELECT'], ['SELECT', 'INSERT']],
])('what is needed where %s', (_, privileges, records, letters) => {
  expect(privileges).toEqual({ ...ALWAYS, records, dead_letters: letters });
});

test('a template needs the table of the templates that have begun', () => {
  expect(needed({}, [], [{ topic: 'shop.{table}', table: '{table}' }])).toHaveProperty('templates', [
    'SELECT',
    'INSERT',
  ]);
});

const role = randomName('role');
beforeAll(() => query(`CREATE ROLE ${role}`));
afterAll(async () => {
  await query(`DROP OWNED BY ${role}`);
  await query(`DROP ROLE ${role}`);
});

/** A session of the role, on tables that are new. */
async function asRole() {
  const { schema, sink } = openStore();
  await sink.migrate();
  const client = await connect();
  await client.query(`SET ROLE ${role}`);
  return { schema, client };
}

test('each privilege that the role lacks is named once, with the statement that gives it', async () => {
  const { schema, client } = await asRole();
  await query(`GRANT SELECT, INSERT ON ${schema}.records TO ${role}; GRANT USAGE ON SCHEMA ${schema} TO ${role}`);
  await query(`GRANT SELECT (topic) ON ${schema}.offsets TO ${role}; GRANT INSERT ON ${schema}.gaps TO ${role}`);
  const of = {
    records: ['SELECT', 'INSERT'],
    offsets: ['SELECT', 'UPDATE'],
    none_such: ['SELECT'],
    gaps: ['DELETE'],
  } as const;
  expect(await missingPrivileges(client, schema, of)).toEqual([
    { role, what: `UPDATE on ${schema}.offsets`, grant: `GRANT UPDATE ON ${schema}.offsets TO ${role}` },
    { role, what: `DELETE on ${schema}.gaps`, grant: `GRANT DELETE ON ${schema}.gaps TO ${role}` },
  ]);
});

test('all privileges that the role lacks are in one refusal', async () => {
  const { schema, client } = await asRole();
  const of = { records: ['INSERT'], gaps: ['INSERT'] } as const;
  await expect(requirePrivileges(client as never, schema, of)).rejects.toMatchObject({
    code: 'DATABASE_REFUSED',
    message: expect.stringContaining(
      `the role ${role} lacks INSERT on ${schema}.records, INSERT on ${schema}.gaps, which the consumer needs sooner or ` +
        `later. As the owner of the tables run: GRANT INSERT ON ${schema}.records TO ${role}; ` +
        `GRANT INSERT ON ${schema}.gaps TO ${role}; Then start again`,
    ),
  });
  for (const table of ['records', 'gaps']) {
    await query(`GRANT INSERT ON ${schema}.${table} TO ${role}`);
  }
  await requirePrivileges(client as never, schema, of);
  await client.end();
});
