import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { query } from '../stack/database.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { runCommand } from '../stack/run-command.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { consumed, copyOf, LARGE, placeOf, run } from './consumed-letters.ts';

const HEADERS = { z: ['1', Buffer.from([255])], a: 'b' };
const TIMESTAMP = Date.UTC(2026, 1, 3, 4, 5, 6, 789);

describe('letters of which some fit by now', () => {
  let topic: string;
  let schema: string;
  let groupId: string;
  let original: string;

  beforeAll(async () => {
    ({
      topic,
      schema: original,
      groupId,
    } = await consumed([
      { value: '1' },
      { key: 'large', value: LARGE, headers: HEADERS, timestamp: TIMESTAMP },
      { key: 'poison', value: '{oops' },
      { key: Buffer.from([0xff]), value: null },
      { key: 'late', value: `{"poison": "${'x'.repeat(20)}` },
    ]));
  });

  beforeEach(async () => {
    schema = await copyOf(original);
  });

  const letters = () => query(`SELECT "offset"::int, reason, error FROM ${schema}.dead_letters ORDER BY "offset"`);

  test('list shows them without their content, unless that is asked for', async () => {
    const { code, stdout, stderr } = await run(['list'], { schema });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: '4 dead letters: 2 value_too_large, 1 invalid_json, 1 key_not_text\n',
    });
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^GROUP +TOPIC +PARTITION +OFFSET +REASON +TARGET +FAILED AT +ERROR$/);
    expect(lines[2]).toMatch(new RegExp(`^${groupId} +${topic} +0 +2 +invalid_json +- +\\S+Z +SQLSTATE 22P02`));
    expect(lines).toHaveLength(5);
    expect(stdout).not.toMatch(/oops|large"/);
    const shown = await run(['list', '--show-value', '--reason', 'invalid_json'], { schema });
    expect(shown.stdout).toContain('value  {oops');
    expect(shown.stdout).not.toContain('value_too_large');
  });

  test('list takes a limit, topics and JSON', async () => {
    const limited = await run(['list', '--limit', '1', '--json', '--topic', topic], { schema });
    expect(JSON.parse(limited.stdout)).toMatchObject({ group: groupId, topic, offset: 1, reason: 'value_too_large' });
    expect(limited.stderr).toContain('1 are shown, --limit shows more');
    const other = await run(['list', '--topic', 'no-such-topic'], { schema });
    expect(other).toMatchObject({ code: 0, stderr: '0 dead letters\n' });
  });

  test('replay moves those, byte for byte, and leaves the others with the error they have now', async () => {
    const { code, stdout, stderr } = await run(['replay'], { schema });
    expect(code).toBe(1);
    expect(stderr).toBe('4 of 4 dead letters, 1 moved, 3 still refused (2 invalid_json, 1 key_not_text)\n');
    expect(stdout).toContain(
      `${topic}/0 offset 4 of group ${groupId} still does not fit: invalid_json: SQLSTATE 22P02`,
    );
    expect(stdout).not.toContain('oops');
    expect(await query(`SELECT * FROM ${schema}.records WHERE "offset" = 1`)).toEqual([
      {
        topic,
        partition: 0,
        offset: '1',
        timestamp: new Date(TIMESTAMP),
        key: 'large',
        headers: [
          { key: 'z', value: '1' },
          { key: 'z', value: { base64: '/w==' } },
          { key: 'a', value: 'b' },
        ],
        value: JSON.parse(LARGE),
        ingested_at: expect.any(Date),
      },
    ]);
    expect(await letters()).toEqual([
      { offset: 2, reason: 'invalid_json', error: expect.stringContaining('22P02') },
      { offset: 3, reason: 'key_not_text', error: expect.any(String) },
      { offset: 4, reason: 'invalid_json', error: expect.stringContaining('22P02') },
    ]);
  });

  test('one letter is shown, mended and replayed, and another one discarded with a reason', async () => {
    const shown = await run(['show', `${topic}/0/2`], { schema });
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(/^ {4}SQLSTATE {2}22P02, invalid text for the type$/m);
    expect(shown.stdout).toMatch(/^ {4}value {5}\{oops$/m);
    const asJson = await run(['show', `${topic}/0/1`, '--json'], { schema });
    expect(JSON.parse(asJson.stdout)).toMatchObject({ value: LARGE, timestamp: new Date(TIMESTAMP).toISOString() });
    const mend = (value: string) =>
      runCommand(['dead-letters', 'replay', `${topic}/0/2`, '--value', '-'], {
        ...placeOf({ schema }),
        shell: `printf '%s' '${value}' | "$@"`,
      });
    expect(await mend('{still wrong')).toMatchObject({ code: 1, stdout: expect.stringContaining('invalid_json') });
    expect((await run(['show', `${topic}/0/2`], { schema })).stdout).toContain('{oops');
    expect(await mend('{"mended": true}')).toMatchObject({ code: 0, stderr: '1 of 1 dead letters, 1 moved\n' });
    expect(await query(`SELECT value FROM ${schema}.records WHERE key = 'poison'`)).toEqual([
      { value: { mended: true } },
    ]);
    const refused = await run(['discard', `${topic}/0/3`], { schema });
    expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining('--because is missing') });
    const discard = await run(['discard', `${topic}/0/3`, '--because', 'test data'], { schema });
    expect(discard).toMatchObject({ code: 0, stdout: expect.stringContaining(`discarded ${topic}/0/3 of group`) });
    expect(
      await query(
        `SELECT key, value, reason, because, discarded_by = session_user AS own FROM ${schema}.discarded_letters`,
      ),
    ).toEqual([{ key: Buffer.from([0xff]), value: null, reason: 'key_not_text', because: 'test data', own: true }]);
    for (const word of ['show', 'replay']) {
      const gone = await run([word, `${topic}/0/3`], { schema });
      expect(gone).toMatchObject({ code: 1, stderr: expect.stringMatching(/there is no .*because: test data/) });
    }
    expect((await letters()).map(({ offset }) => offset)).toEqual([1, 4]);
  });

  test('a trigger that drops the row of a discarded letter keeps the letter', async () => {
    await query(`CREATE FUNCTION ${schema}.drop_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER drop_row BEFORE INSERT ON ${schema}.discarded_letters FOR EACH ROW EXECUTE FUNCTION ${schema}.drop_row()`);
    const { code, stderr } = await run(['discard', `${topic}/0/3`, '--because', 'test data'], { schema });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('was not discarded') });
    expect(await letters()).toHaveLength(4);
  });

  test('of two groups at one place one is chosen', async () => {
    await query(`INSERT INTO ${schema}.dead_letters (group_id, topic, partition, "offset", headers, reason, error)
      VALUES ('another', '${topic}', 0, 2, '[]', 'invalid_json', 'e')`);
    const both = await run(['discard', `${topic}/0/2`, '--because', 'x'], { schema });
    expect(both).toMatchObject({ code: 1, stderr: expect.stringContaining('several groups') });
    const one = await run(['discard', `${topic}/0/2`, '--because', 'x', '--group', 'another'], { schema });
    expect(one.code).toBe(0);
    expect(await letters()).toHaveLength(4);
  });

  test('replay of one reason alone succeeds when all of them fit', async () => {
    await query(`UPDATE ${schema}.dead_letters SET value = '{"right": true}' WHERE reason = 'invalid_json'`);
    const { code, stdout, stderr } = await run(['replay', '--reason', 'invalid_json'], { schema });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '1 of 1 dead letters, 1 moved\n' });
    expect(await query(`SELECT value FROM ${schema}.records WHERE key = 'poison'`)).toEqual([
      { value: { right: true } },
    ]);
  });

  test('a key that is no text fits once records.keyEncoding is base64, and is stored in it', async () => {
    const replay = ['replay', '--reason', 'key_not_text'];
    const { code, stderr } = await run(replay, { schema }, { RECORDS_KEY_ENCODING: 'base64' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '1 of 1 dead letters, 1 moved\n' });
    expect(await query(`SELECT key, value FROM ${schema}.records WHERE "offset" = 3`)).toEqual([
      { key: '/w==', value: null },
    ]);
  });

  test('a dry run says the same and changes nothing', async () => {
    const before = await letters();
    const { code, stderr } = await run(['replay', '--dry-run', '--limit', '1'], { schema });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: '1 of 1 dead letters, 1 would be moved; nothing was changed (--dry-run)\n',
    });
    expect(await letters()).toEqual(before);
    expect(await query(`SELECT count(*)::int FROM ${schema}.records`)).toEqual([{ count: 1 }]);
  });

  test('a record that is in records already is reported, neither doubled nor lost', async () => {
    await query(`INSERT INTO ${schema}.records (topic, partition, "offset", headers) VALUES ($1, 0, 1, '[]')`, [topic]);
    const { code, stdout, stderr } = await run(['replay', '--limit', '1', '--json'], { schema });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'present', topic, offset: 1 });
    expect(stderr).toContain('1 present already');
    expect(await letters()).toHaveLength(4);
  });

  test('a constraint of the user that is deferred refuses a letter like any other', async () => {
    await query(`CREATE TABLE ${schema}.known (key text PRIMARY KEY)`);
    await query(
      `ALTER TABLE ${schema}.records ADD FOREIGN KEY (key) REFERENCES ${schema}.known DEFERRABLE INITIALLY DEFERRED`,
    );
    const { code } = await run(['replay', '--limit', '1'], { schema });
    expect(code).toBe(1);
    expect((await letters())[0]).toEqual({
      offset: 1,
      reason: 'rejected_by_database',
      error: expect.stringContaining('23503'),
    });
  });
});

longTest('a letter that another transaction holds is passed over, not waited for', async () => {
  const { schema } = await consumed([{ value: LARGE }, { value: LARGE }]);
  const holder = new pg.Client({ connectionString: sharedDatabaseUrl() });
  await holder.connect();
  await holder.query(`BEGIN; SELECT 1 FROM ${schema}.dead_letters WHERE "offset" = 0 FOR UPDATE`);
  const { code, stderr } = await run(['replay'], { schema });
  await holder.end();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '1 of 2 dead letters, 1 moved\n' });
  expect(await query(`SELECT "offset" FROM ${schema}.records`)).toEqual([{ offset: '1' }]);
});

test('a timestamp that did not fit is not replayed as none, until somebody gives one', async () => {
  const { schema } = await consumed([{ value: '1', timestamp: 9_224_318_016_000_000 }], {
    'message.timestamp.after.max.ms': '9223372036854775807',
  });
  expect((await run(['replay'], { schema })).stdout).toContain('timestamp_out_of_range');
  await query(`UPDATE ${schema}.dead_letters SET timestamp = '2026-01-01Z'`);
  expect((await run(['replay'], { schema })).code).toBe(0);
  expect(await query(`SELECT timestamp FROM ${schema}.records`)).toEqual([{ timestamp: new Date(Date.UTC(2026, 0)) }]);
});

test('without the table the command says who makes it', async () => {
  const { code, stdout, stderr } = await run(['list'], { schema: randomName('schema') });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^stream-consumer dead-letters list: there is no table dead_letters in the schema schema_/);
});

test('without PostgreSQL the command ends with code 1 and one line, the password not in it', async () => {
  const url = 'postgresql://u:hunter2@127.0.0.1:1/d';
  const { code, stderr } = await run(['replay'], { schema: 's', url });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^stream-consumer dead-letters replay: PostgreSQL .*ECONNREFUSED 127\.0\.0\.1:1\n$/);
  expect(stderr).not.toContain('hunter2');
});
