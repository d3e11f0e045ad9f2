import { beforeAll, describe, expect, test } from '@jest/globals';
import { TemplatedShop } from '../kafka/templated-shop.ts';
import { query } from '../stack/database.ts';
import { produce } from '../stack/kafka-client.ts';
import { someCases } from '../stack/long-test.ts';
import { runCommand } from '../stack/run-command.ts';
import { writeConfiguration } from '../stack/start-consumer.ts';
import { createNamedTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';

const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n');

/** More than a command prints in full. */
const NAMES: readonly string[] = Array.from({ length: 12 }, (_, nth) => `t${String(nth).padStart(2, '0')}`);

/** Commands by the rule of a shop; in what they print, its random names are `source` and `shop`. */
async function commandsOf(shop: TemplatedShop, entry: object = {}) {
  const settings = { server: { port: 0 }, tables: [shop.rule(entry)] };
  const { configFile } = await writeConfiguration(shop.settings({ settings }));
  const shown = (text: string) => text.replaceAll(shop.source, 'source').replaceAll(shop.schema, 'shop');
  return async (...words: string[]) => {
    const { code, stdout, stderr } = await runCommand([...words, '--config', configFile]);
    return { code, stdout: shown(stdout), stderr: shown(stderr) };
  };
}

test('the first run of a replica is tables ddl, psql and tables check; then the consumer fills each table', async () => {
  const shop = new TemplatedShop();
  for (const name of NAMES) {
    await createNamedTopic(shop.topic(name));
    await produce(shop.topic(name), [{ key: '{"id": 1}', value: '{"id": 1, "note": "x"}' }]);
  }
  const run = await commandsOf(shop, { key: 'primary' });

  const missing = await run('tables', 'check');
  expect(missing.code).toBe(78);
  expect(missing.stdout).toBe(`${NAMES.map((name) => `source.shop.${name} -> shop.${name}: is not there`).join('\n')}

12 tables: 12 are not there
stream-consumer tables check --table NAME prints all about one of them
stream-consumer tables ddl prints the CREATE TABLE of each that is not there
`);
  expect(missing.stderr).toBe(`The tables do not fit the setting tables: 12 problems; nothing was written.

12 tables to create: stream-consumer tables ddl prints them
`);

  const ddl = await run('tables', 'ddl');
  expect({ code: ddl.code, stderr: ddl.stderr }).toEqual({ code: 0, stderr: '' });
  const made = linesOf(ddl.stdout).filter((line) => line.startsWith('CREATE TABLE'));
  expect(made).toEqual(NAMES.map((name) => `CREATE TABLE shop.${name} (`));
  expect(linesOf(ddl.stdout).at(-1)).toBe('-- 12 tables: 0 complete, 12 to make, alter or look at');

  await query(ddl.stdout.replaceAll(/\bshop\b/g, shop.schema));
  const check = await run('tables', 'check');
  expect({ code: check.code, stderr: check.stderr }).toEqual({ code: 0, stderr: '' });
  expect(linesOf(check.stdout)).toContain('12 tables: 12 fit');

  const consumer = await shop.start({ settings: { tables: [shop.rule({ key: 'primary' })] } });
  const counts = NAMES.map((name) => `(SELECT count(*) FROM ${shop.schema}.${name} WHERE id = 1 AND note = 'x')`);
  await until('a row in each table', async () => {
    const [all] = await query<{ rows: string }>(`SELECT ${counts.join(' + ')} AS rows`);
    return all?.rows === '12' ? true : undefined;
  });
  expect(await query(`SELECT FROM ${consumer.schema}.dead_letters`)).toEqual([]);
  const complete = await run('tables', 'ddl');
  expect(
    complete.stdout,
  ).toBe(`${NAMES.map((name) => `-- source.shop.${name} -> shop.${name}: each field has a column`).join('\n')}

-- 12 tables: 12 complete, 0 to make, alter or look at
`);
});

/** The end of what doctor prints of a topic that waits alone. */
const WAIT = ' (its records wait, and all others are read)';

/** Lines of the tables with these verdicts, and those of all others with the last one. */
const listed = (verdicts: Readonly<Record<string, string>>, others: string): string =>
  NAMES.map((name) => `source.shop.${name} -> shop.${name}: ${verdicts[name] ?? others}`).join('\n');

const FOREIGN_KEY = `tables[0](source.shop.t07).table has the foreign key t07_id_fkey, and topics have no order among each other: a row may come before its parent: "shop.t07"
  allowed: ALTER TABLE shop.t07 DROP CONSTRAINT t07_id_fkey`;

describe('of twelve tables, one of which is missing and one of which does not fit,', () => {
  const shop = new TemplatedShop();
  let run: Awaited<ReturnType<typeof commandsOf>>;

  beforeAll(async () => {
    await shop.add(...NAMES);
    await query(`DROP TABLE ${shop.schema}.t03; CREATE TABLE ${shop.schema}.parent (id int PRIMARY KEY);
      ALTER TABLE ${shop.schema}.t07 ADD FOREIGN KEY (id) REFERENCES ${shop.schema}.parent`);
    await produce(shop.topic('t01'), [{ value: '{"id": 1, "extra": 2}', partition: 0 }]);
    await produce(
      shop.topic('t02'),
      ['a', 'b', 'c', 'd', 'e'].map((id) => ({ value: JSON.stringify({ id }), partition: 0 })),
    );
    run = await commandsOf(shop);
  });

  test('tables check has a line for each, and the problem of the one that does not fit', async () => {
    const { code, stdout, stderr } = await run('tables', 'check');
    expect(code).toBe(78);
    expect(stdout).toBe(`${listed({ t03: 'is not there', t07: 'does not fit' }, 'fits')}

12 tables: 10 fit; 1 does not fit; 1 is not there
stream-consumer tables check --table NAME prints all about one of them
stream-consumer tables ddl prints the CREATE TABLE of each that is not there
`);
    expect(stderr).toBe(`The tables do not fit the setting tables: 2 problems; nothing was written.

${FOREIGN_KEY}
1 table to create: stream-consumer tables ddl prints them
`);
    const json = await run('tables', 'check', '--json');
    expect(linesOf(json.stdout).map((line) => JSON.parse(line).table)).toEqual(
      NAMES.filter((name) => name !== 't03' && name !== 't07'),
    );
  });

  test('with missing: ignore nobody wants the missing one', async () => {
    await query(`ALTER TABLE ${shop.schema}.t07 DROP CONSTRAINT t07_id_fkey`);
    const ignoring = await commandsOf(shop, { missing: 'ignore' });
    const { code, stdout, stderr } = await ignoring('tables', 'check');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('12 tables: 11 fit; 1 is not there, and missing: ignore asks for none\n');
    const alone = await ignoring('tables', 'check', '--table', 't03');
    const line = 'source.shop.t03 -> shop.t03: is not there, and missing: ignore asks for none\n';
    expect(alone).toEqual({ code: 0, stdout: line, stderr: '' });
    expect((await ignoring('doctor')).stdout).toContain('OK       table: 12 of 12 are right');
    const tried = await ignoring('tables', 'dry-run');
    expect(tried.code).toBe(65);
    expect(tried.stdout).toContain('shop.t03: waits (TABLES_DO_NOT_FIT), as missing: ignore asks for no table\n');
    await query(`ALTER TABLE ${shop.schema}.t07 ADD FOREIGN KEY (id) REFERENCES ${shop.schema}.parent`);
  });

  test('tables ddl has a line for each that is complete, and the statements of the others', async () => {
    const complete = listed({ t02: 'each field has a column' }, 'is there, and no record shows its fields yet');
    const lines = linesOf(complete).filter((line) => !/ -> shop\.t0[13]:/.test(line));
    expect(await run('tables', 'ddl')).toEqual({
      code: 0,
      stderr: '',
      stdout: `${lines.map((line) => `-- ${line}`).join('\n')}

-- source.shop.t01 -> shop.t01
-- 1 record of source.shop.t01: offsets 0-0 of partition 0
ALTER TABLE shop.t01
  ADD COLUMN extra bigint; -- REVIEW: whole numbers in 1 of 1 records

-- source.shop.t03 -> shop.t03
-- REVIEW: source.shop.t03 has no records yet, so nothing is known of its values

-- 12 tables: 10 complete, 2 to make, alter or look at
`,
    });
  });

  test('tables dry-run has a line for each, the first dead letters, and why others would wait', async () => {
    const { code, stdout } = await run('tables', 'dry-run');
    expect(code).toBe(78);
    const letter = (offset: number) =>
      `source.shop.t02/0 offset ${offset}: dead letter value_does_not_fit: SQLSTATE 22P02 (invalid text for the type): refused by shop.t02, column "id": id is text; the column takes a whole number within integer`;
    const verdicts = {
      t01: '1 record, 1 would be stored\n  fields without a column: extra',
      t02: `5 records, 0 would be stored, 5 would be dead letters
  ${letter(0)}
  ${letter(1)}
  ${letter(2)}
  and 2 more dead letters`,
      t03: `waits (TABLES_DO_NOT_FIT)
  tables[0](source.shop.t03).table is not there: "shop.t03"; did you mean shop.t00?
    allowed: a table that is there, as SCHEMA.TABLE with the letters of the catalog; CREATE TABLE it, or correct the name`,
      t07: `waits (TABLES_DO_NOT_FIT)\n${FOREIGN_KEY.replaceAll(/^/gm, '  ')}`,
    };
    expect(stdout).toBe(`${listed(verdicts, 'no records')}

6 records: 1 would be stored, 5 would be dead letters
  5 value_does_not_fit, shop.t02, column "id"
  more than deadLetters.maxRatio (0.5) of source.shop.t02: the topic waits where they are more of 1,000 records in a row
stream-consumer tables dry-run --table NAME prints all about one table
nothing was written: the transaction was rolled back; sequences that columns take numbers from have advanced
`);
    expect(await query(`SELECT FROM ${shop.schema}.t01`)).toEqual([]);
  });

  test('doctor has one line for all topics, and one for all tables, that are OK', async () => {
    const { code, stdout } = await run('doctor');
    expect(code).toBe(0);
    expect(linesOf(stdout).filter((line) => /^ {2}\w+ +(topic|table)\b/.test(line))).toEqual([
      '  OK       topic: 12 of 12 are right; --json has a line for each',
      '  OK       table: 10 of 12 are right; --json has a line for each',
      `  WARNING  table shop.t03: tables[0](source.shop.t03).table is not there: "shop.t03"; did you mean shop.t00?${WAIT}`,
      expect.stringMatching(/^ {2}WARNING {2}table shop\.t07: .*foreign key t07_id_fkey/),
    ]);
  });

  describe('--table', () => {
    test.each(someCases(1, ['NAME', 'SCHEMA.NAME']))('prints everything about one table, by %s', async (form) => {
      const asked = (name: string) => ['--table', form === 'NAME' ? name : `${shop.schema}.${name}`];
      expect(await run('tables', 'check', ...asked('t01'))).toEqual({
        code: 0,
        stderr: '',
        stdout: `source.shop.t01 -> shop.t01
  COLUMN  <- SOURCE  -> TYPE     NO VALUE
  id      <- id      -> integer  NULL
`,
      });
      const misfit = await run('tables', 'check', ...asked('t07'));
      expect({ code: misfit.code, stdout: misfit.stdout }).toEqual({ code: 78, stdout: '' });
      expect(misfit.stderr).toContain(`: 1 problem; nothing was written.\n\n${FOREIGN_KEY}\n`);

      const ddl = await run('tables', 'ddl', ...asked('t02'));
      expect(linesOf(ddl.stdout)).toEqual([
        '-- source.shop.t02 -> shop.t02',
        '-- 5 records of source.shop.t02: offsets 0-4 of partition 0',
        '-- each field has a column',
      ]);

      const tried = await run('tables', 'dry-run', ...asked('t01'));
      expect({ code: tried.code, lines: linesOf(tried.stdout).slice(0, 4) }).toEqual({
        code: 0,
        lines: [
          expect.stringMatching(/^source\.shop\.t01\/[01] offset 0: append to shop\.t01$/),
          '',
          '1 record: 1 would be stored, 0 would be dead letters',
          '  1 append in shop.t01',
        ],
      });

      const doctor = await run('doctor', ...asked('t03'));
      expect(doctor.code).toBe(0);
      expect(doctor.stdout).toContain('OK       topic source.shop.t03: 2 partitions, may be read');
      expect(doctor.stdout.match(/ table shop\.\w+/g)).toEqual([' table shop.t03']);
    });

    test.each(someCases(1, [['tables', 'check'], ['tables', 'ddl'], ['tables', 'dry-run'], ['doctor']]))(
      'names those that there are, and the nearest one: %s %s',
      async (...words) => {
        const { code, stdout, stderr } = await run(...words, '--table', `${shop.schema}.t1`);
        expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
        expect(linesOf(stderr).slice(-2)).toEqual([
          expect.stringMatching(/^--table is no table of these settings: "shop\.t1"; did you mean shop\.t\d\d\?$/),
          `  allowed: tables of the setting tables: ${NAMES.map((name) => `shop.${name}`).join(', ')}`,
        ]);
      },
    );
  });
});
