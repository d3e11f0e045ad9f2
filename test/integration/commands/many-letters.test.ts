import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { someCases } from '../stack/long-test.ts';
import { runCommand } from '../stack/run-command.ts';
import { consumed, copyOf, placeOf, run, start } from './consumed-letters.ts';

describe('many letters', () => {
  const COUNT = 500;
  const fitsLater = (id: number) => `{"id": ${id}, "text": "xxxxxxxxxx"}`;
  let original: string;
  const many = async () => ({ schema: await copyOf(original) });

  beforeAll(async () => {
    ({ schema: original } = await consumed(Array.from({ length: COUNT }, (_, id) => ({ value: fitsLater(id) }))));
  });

  const ids = (schema: string) =>
    query<{ id: number }>(`SELECT (value->>'id')::int AS id FROM ${schema}.records ORDER BY "offset"`);

  test('are moved exactly once by two replays at the same time, which share them', async () => {
    const { schema } = await many();
    const replays = await Promise.all([run(['replay'], { schema }), run(['replay'], { schema })]);
    // The last line that counts: a replay that takes longer has lines about its progress before.
    const countsOf = (text: string) => text.match(/[\d,]+(?= moved)/g) ?? [];
    const moved = replays.map(({ stderr }) => Number(countsOf(stderr).at(-1)?.replace(',', '')));
    expect(replays.map(({ code }) => code)).toEqual([0, 0]);
    expect(moved.reduce((sum, count) => sum + count, 0)).toBe(COUNT);
    expect(await ids(schema)).toEqual(Array.from({ length: COUNT }, (_, id) => ({ id })));
    expect(await query(`SELECT 1 FROM ${schema}.dead_letters`)).toEqual([]);
  });

  test.each(someCases(1, ['SIGKILL', 'SIGINT', 'SIGTERM'] as const))(
    'survive a replay that ends by %s: each is in one table, and the next replay moves the rest',
    async (signal) => {
      const { schema } = await many();
      const child = start(['replay', '--json'], { schema });
      const stderr = text(child.stderr);
      const lines = createInterface({ input: child.stdout });
      await once(lines, 'line');
      child.kill(signal);
      const [code] = await once(child, 'exit');
      // PostgreSQL may still be committing what the command sent last: the lock is free when it has ended.
      await query(`BEGIN; LOCK TABLE ${schema}.dead_letters IN SHARE MODE; COMMIT`);
      const left = (await query<{ count: number }>(`SELECT count(*)::int FROM ${schema}.dead_letters`))[0]?.count ?? 0;
      expect(left).toBeGreaterThan(0);
      expect((await ids(schema)).length + left).toBe(COUNT);
      if (signal !== 'SIGKILL') {
        expect(code).toBe(signal === 'SIGINT' ? 130 : 143);
        expect(await stderr).toMatch(/^interrupted: .* of 500 dead letters, .* moved\n$/);
      }
      expect(await run(['replay'], { schema })).toMatchObject({
        code: 0,
        stderr: expect.stringContaining(`${left.toLocaleString('en')} moved`),
      });
      expect(await ids(schema)).toHaveLength(COUNT);
    },
  );

  test('end a list in order when its reader has gone', async () => {
    const { schema } = await many();
    const child = start(['list', '--limit', '500'], { schema });
    const stderr = text(child.stderr);
    const closed = once(child, 'close');
    child.stdout.destroy();
    expect(await closed).toEqual([141, null]);
    expect(await stderr).not.toMatch(/EPIPE|^ {4}at /m);
  });

  test('end a list that cannot be written with code 1, and say so', async () => {
    const { schema } = await many();
    const { code, stderr } = await runCommand(['dead-letters', 'list'], {
      ...placeOf({ schema }),
      shell: 'exec "$@" > /dev/full',
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^stream-consumer: standard output takes nothing \(ENOSPC: /m);
  });
});
