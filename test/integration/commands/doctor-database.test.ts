import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { type ConsumerUnderTest, startConsumer } from '../stack/start-consumer.ts';
import { until } from '../stack/until.ts';
import { examine, expectSameEnd, expectTroubles, type Trouble } from './examined.ts';

let topic: string;

beforeAll(async () => {
  topic = await createTopic();
});

const roles: string[] = [];

afterAll(async () => {
  for (const role of roles) {
    await query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
  }
});

/** A role that may log in and has no more rights than everybody has. */
async function newRole(): Promise<{ readonly role: string; readonly databaseUrl: string }> {
  const role = randomName('role');
  roles.push(role);
  await query(`CREATE ROLE ${role} LOGIN PASSWORD 'p'`);
  const url = new URL(sharedDatabaseUrl());
  url.username = role;
  url.password = 'p';
  return { role, databaseUrl: url.href };
}

/** A schema with the tables of this version, which the superuser owns. */
async function migrated(): Promise<string> {
  const schema = randomName('schema');
  const { code } = await runCommand(['migrate'], { env: databaseEnvironment(sharedDatabaseUrl(), schema) });
  expect(code).toBe(0);
  return schema;
}

const chosen = (others: Partial<ConsumerUnderTest> = {}): ConsumerUnderTest => ({ topics: [topic], ...others });

const UNMIGRATED = { database: { migrate: false } };

const refusedTables = (mend: string): Trouble => ({
  check: 'own tables',
  status: 'wrong',
  code: 'DATABASE_REFUSED',
  mend: expect.stringContaining(mend),
});

describe('hosts', () => {
  test('one that is away is AWAY, and the code is 1; another one that answers does not change that', async () => {
    const dead = '127.0.0.1:1';
    const trouble = {
      check: 'host',
      name: dead,
      status: 'away',
      message: expect.stringContaining('ECONNREFUSED'),
    } as const;
    await expectTroubles(chosen({ databaseUrl: `postgresql://u:p@${dead}/d` }), 1, trouble);
    const databaseUrl = sharedDatabaseUrl().replace('@', `@${dead},`);
    await expectTroubles(chosen({ databaseUrl }), 1, trouble);
  });

  test('what is only away is no failure with --ignore-outages, and what is wrong is one all the same', async () => {
    const databaseUrl = 'postgresql://u:p@127.0.0.1:1/d';
    expect((await examine(chosen({ databaseUrl }), '--ignore-outages')).code).toBe(0);
    const missing = chosen({ databaseUrl, topics: [randomName('topic')] });
    expect((await examine(missing, '--ignore-outages')).code).toBe(78);
  });

  test('one that refuses the login is WRONG, and says where the credentials come from', async () => {
    const { databaseUrl } = await newRole();
    const settings = { database: { credentialsFrom: 'Secret orders-database, key password' } };
    await expectTroubles(chosen({ databaseUrl: databaseUrl.replace(':p@', ':wrong@'), settings }), 78, {
      check: 'host',
      status: 'wrong',
      code: 'DATABASE_REFUSED',
      message: expect.stringMatching(/SQLSTATE 28P01.*check user, password.*Secret orders-database, key password$/),
    });
  });

  longTest('one that refuses the login ends the start of a consumer with the same code', async () => {
    const { databaseUrl } = await newRole();
    await expectSameEnd(chosen({ databaseUrl: databaseUrl.replace(':p@', ':wrong@') }), {
      check: 'host',
      status: 'wrong',
      code: 'DATABASE_REFUSED',
    });
  });
});

describe('the server', () => {
  /** A role to which the server says that it is of another version. */
  async function roleAtVersion(number: number): Promise<string> {
    const { role, databaseUrl } = await newRole();
    const shadow = randomName('shadow');
    await query(`CREATE SCHEMA ${shadow} AUTHORIZATION ${role};
      CREATE FUNCTION ${shadow}.current_setting(name text) RETURNS text LANGUAGE sql STABLE AS
        $$ SELECT CASE WHEN name = 'server_version_num' THEN '${number}' ELSE pg_catalog.current_setting(name) END $$;
      GRANT CREATE ON DATABASE ${new URL(sharedDatabaseUrl()).pathname.slice(1)} TO ${role};
      ALTER ROLE ${role} SET search_path = ${shadow}, pg_catalog`);
    return databaseUrl;
  }

  test('one before PostgreSQL 13 is WRONG, and ends the start of a consumer with the same code', async () => {
    const message = expect.stringContaining('13 is the oldest that is supported');
    const trouble = { check: 'server', status: 'wrong', code: 'DATABASE_TOO_OLD', message } as const;
    await expectSameEnd(chosen({ databaseUrl: await roleAtVersion(120_019), settings: UNMIGRATED }), trouble);
  });

  test('one that is newer than those of the tests is a warning, and the code is 0', async () => {
    const message = expect.stringContaining('is newer than 18');
    const databaseUrl = await roleAtVersion(190_000);
    await expectTroubles(chosen({ databaseUrl }), 0, { check: 'server', status: 'warning', message });
  });

  test('one that does not store UTF-8 is WRONG, and ends the start of a consumer with the same code', async () => {
    const name = randomName('latin');
    await query(`CREATE DATABASE ${name} ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`);
    const url = new URL(sharedDatabaseUrl());
    url.pathname = name;
    await expectSameEnd(chosen({ databaseUrl: url.href }), {
      check: 'server',
      status: 'wrong',
      code: 'DATABASE_ENCODING',
      message: expect.stringContaining("CREATE DATABASE ... ENCODING 'UTF8'"),
    });
    await query(`DROP DATABASE ${name} WITH (FORCE)`);
  });
});

describe("the consumer's own tables", () => {
  test('are WRONG where there are none and the consumer does not make them', () =>
    expectSameEnd(chosen({ settings: UNMIGRATED }), {
      check: 'own tables',
      status: 'wrong',
      code: 'DATABASE_NOT_MIGRATED',
      message: expect.stringContaining('Run "stream-consumer migrate"'),
    }));

  test('are WRONG where the role may not make them, with the GRANT', async () => {
    const { role, databaseUrl } = await newRole();
    const database = new URL(databaseUrl).pathname.slice(1);
    await expectSameEnd(chosen({ databaseUrl }), refusedTables(`GRANT CREATE ON DATABASE ${database} TO ${role};`));
  });

  test('are WRONG where the role may not use the schema, with the GRANT, and may not make tables in it, with another', async () => {
    const { role, databaseUrl } = await newRole();
    const schema = await migrated();
    const place = chosen({ databaseUrl, schema });
    await expectSameEnd(place, refusedTables(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`));
    await query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}; GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${role}`);
    await expectSameEnd(place, refusedTables(`GRANT CREATE ON SCHEMA ${schema} TO ${role};`));
    await query(`GRANT CREATE ON SCHEMA ${schema} TO ${role}; DELETE FROM ${schema}.schema_migrations WHERE version = 5;
      DROP TABLE ${schema}.filled_tables`);
    await expectTroubles(place, 78, refusedTables('GRANT postgres TO'));
    await query(`DROP SCHEMA ${schema} CASCADE`);
  });

  test('are WRONG for each privilege that is missing, and OK once each GRANT that is printed has run', async () => {
    const { role, databaseUrl } = await newRole();
    const schema = await migrated();
    await query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`);
    const place = chosen({ databaseUrl, schema, settings: UNMIGRATED, groupId: randomName('group') });
    const needed = [
      ...['SELECT on records', 'INSERT on records', 'SELECT on dead_letters', 'INSERT on dead_letters'],
      ...['SELECT on offsets', 'INSERT on offsets', 'UPDATE on offsets', 'INSERT on gaps'],
      ...['SELECT on filled_tables', 'INSERT on filled_tables', 'SELECT on schema_migrations'],
    ].map((each) => each.split(' on '));
    const troubles = needed.map(([privilege, table]) => ({
      check: 'privilege',
      name: `${privilege} on ${schema}.${table}`,
      status: 'wrong' as const,
      code: 'DATABASE_REFUSED',
      mend: `GRANT ${privilege} ON ${schema}.${table} TO ${role}`,
    }));
    await expectSameEnd(place, ...troubles);
    const last = troubles.find(({ name }) => name.startsWith('INSERT on') && name.endsWith('.dead_letters'));
    for (const { mend } of troubles.filter((each) => each !== last)) {
      await query(mend);
    }
    await expectSameEnd(place, ...(last ? [last] : []));
    await query(last?.mend ?? '');
    await expectTroubles(place, 0);
    await query(`DROP SCHEMA ${schema} CASCADE`);
  });

  test('are WRONG where a column was altered, and newer ones are a warning', async () => {
    const schema = await migrated();
    await query(`INSERT INTO ${schema}.schema_migrations (version, name) VALUES (99, 'more')`);
    const message = expect.stringContaining('99 (more)');
    await expectTroubles(chosen({ schema }), 0, { check: 'own tables', status: 'warning', message });
    await query(`ALTER TABLE ${schema}.records ALTER partition TYPE bigint`);
    await expectSameEnd(chosen({ schema }), {
      check: 'own tables',
      status: 'wrong',
      code: 'TABLE_MISMATCH',
      message: expect.stringContaining('records."partition" is bigint, and has to be integer'),
    });
    await query(`DROP SCHEMA ${schema} CASCADE`);
  });
});

describe('tables of the user', () => {
  test('are WRONG by each problem of tables check, whatever else is away, and end a consumer with the same code', async () => {
    const own = randomName('own');
    await query(
      `CREATE SCHEMA ${own}; CREATE TABLE ${own}.orders (id int, note text); CREATE TABLE ${own}.good (id int);
      CREATE TABLE ${own}.keyless (id int NOT NULL UNIQUE);
      CREATE UNLOGGED TABLE ${own}.fast (id int)`,
    );
    const tables = [
      { topic, table: `${own}.orders`, columns: { nots: 'note' } },
      { topic, table: `${own}.fast` },
      { topic, table: `${own}.good` },
      { topic, table: `${own}.keyless`, key: 'primary' },
    ];
    const wrong = { check: 'table', status: 'wrong', code: 'TABLES_DO_NOT_FIT' } as const;
    const troubles = [
      {
        ...wrong,
        name: `${own}.orders`,
        message: 'tables[0].columns.nots is no column of the table; did you mean tables[0].columns.note?',
        mend: "the table's columns: id, note",
      },
      { ...wrong, name: `${own}.fast`, mend: expect.stringContaining('ALTER TABLE … SET LOGGED') },
      {
        ...{ ...wrong, name: `${own}.keyless` },
        mend: expect.stringContaining(`ALTER TABLE ${own}.keyless ADD PRIMARY KEY (id)`),
      },
    ];
    await expectSameEnd(chosen({ topics: [], settings: { tables } }), ...troubles);
    await expectTroubles(
      chosen({ topics: [], settings: { tables }, brokers: ['127.0.0.1:1'] }),
      78,
      { check: 'broker', status: 'away' },
      ...troubles,
    );
    await query(`DROP SCHEMA ${own} CASCADE`);
  });

  test('that another group fills from the same topic are WRONG, and end a consumer with the same code', async () => {
    const schema = randomName('schema');
    const own = randomName('own');
    const name = await createTopic();
    await query(`CREATE SCHEMA ${own}; CREATE TABLE ${own}.orders (id int)`);
    await produce(name, [{ value: '{"id":1}' }]);
    const place = chosen({ topics: [], schema, settings: { tables: [{ topic: name, table: `${own}.orders` }] } });
    const consumer = await startConsumer(place);
    await until('the row', async () => (await query(`SELECT FROM ${own}.orders`))[0]);
    consumer.kill('SIGTERM');
    await consumer.exited;
    await expectTroubles({ ...place, groupId: consumer.groupId }, 0);
    await expectSameEnd(place, {
      check: 'tables of topic',
      name,
      status: 'wrong',
      code: 'GROUP_MEETS_ANOTHER',
      message: expect.stringContaining('sharedWithGroups'),
    });
    await query(`DROP SCHEMA ${own}, ${schema} CASCADE`);
  });
});
