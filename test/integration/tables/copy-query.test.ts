import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from 'pg';
import type { PgConnection } from '../../../app/store/connection/pg-internals.ts';
import { type CopyInput, CopyQuery } from '../../../app/store/copy/binary-copy.ts';
import { CopyBuffer } from '../../../app/store/copy/copy-buffer.ts';
import { randomName } from '../stack/random-name.ts';
import { connect } from '../store/open-store.ts';

let client: Client;
const [first, second] = [randomName('first'), randomName('second')];

beforeAll(async () => {
  client = await connect();
  await client.query(`CREATE TEMP TABLE ${first} (id int); CREATE TEMP TABLE ${second} (id int, name text)`);
});

const text = (rows: string): CopyInput => ({ format: 'text', rows: [Buffer.from(rows)] });

function binary(...ids: number[]): CopyInput {
  const rows = new CopyBuffer(64);
  for (const id of ids) {
    rows.row(1);
    rows.int4(id);
  }
  return { format: 'binary', rows: [rows.slice(0, rows.end)] };
}

const STATEMENTS = [
  'BEGIN',
  `COPY ${first} FROM STDIN (FORMAT binary)`,
  `COPY ${second} FROM STDIN (FORMAT text)`,
  `COPY ${first} FROM STDIN (FORMAT text)`,
  'COMMIT',
].join('; ');

const contents = async () => {
  const { rows } = await client.query<{ first: number[]; second: string[] }>(
    `SELECT (SELECT coalesce(array_agg(id ORDER BY id), '{}') FROM ${first}) AS first,
            (SELECT coalesce(array_agg(id || coalesce(name, '') ORDER BY id), '{}') FROM ${second}) AS second`,
  );
  await client.query(`TRUNCATE ${first}, ${second}`);
  return rows[0];
};

const send = (copies: readonly CopyInput[], mayCopy?: (tags: readonly string[]) => boolean) =>
  client.query(new CopyQuery(STATEMENTS, copies, mayCopy));

describe('several COPYs of one message', () => {
  test('get the rows of each in turn, whichever format they have', async () => {
    const tags = await send([binary(1, 2), text('3\tä\n4\t\\N\n5\ta\\tb\n'), text('6\n')]).tags;
    expect(tags).toEqual(['BEGIN', 'COPY 2', 'COPY 3', 'COPY 1', 'COMMIT']);
    expect(await contents()).toEqual({ first: [1, 2, 6], second: ['3ä', '4', '5a\tb'] });
  });

  test('may have no rows', async () => {
    const tags = await send([binary(), text(''), text('7\n')]).tags;
    expect(tags).toEqual(['BEGIN', 'COPY 0', 'COPY 0', 'COPY 1', 'COMMIT']);
    expect(await contents()).toEqual({ first: [7], second: [] });
  });

  test.each([
    ['the first one', [{ format: 'binary', rows: [Buffer.from([0, 2])] } as const, text('2\tb\n'), text('3\n')]],
    ['one in the middle', [binary(1), text('x\ty\n'), text('4\n')]],
    ['the last one', [binary(1), text('2\tb\n'), text('x\n')]],
  ])('leave nothing when a row of %s is refused, and the connection can be used', async (_, copies) => {
    await expect(send(copies).tags).rejects.toMatchObject({ code: expect.stringMatching(/^22P/) });
    await client.query('ROLLBACK');
    expect(await contents()).toEqual({ first: [], second: [] });
  });

  test('are sent all at once, when PostgreSQL is ready for the first ones', async () => {
    const { connection } = client as unknown as { connection: PgConnection };
    let ready = 0;
    const count = () => {
      ready += 1;
    };
    connection.prependListener('copyInResponse', count);
    const writes: number[] = [];
    const { stream } = connection;
    const write = stream.write.bind(stream);
    stream.write = (piece: Uint8Array | string) => {
      writes.push(ready);
      return write(piece);
    };
    await send([binary(1), text('2\tb\n'), text('3\n')]).tags;
    stream.write = write;
    connection.off('copyInResponse', count);
    expect([writes[0], new Set(writes.slice(1)), ready]).toEqual([0, new Set([1]), 3]);
    expect(await contents()).toEqual({ first: [1, 3], second: ['2b'] });
  });

  test('are passed over behind a refused one, however large they are', async () => {
    const large = text(`2\t${'b'.repeat(20_000_000)}\n`);
    await expect(send([text('x'), large, text('3\n')]).tags).rejects.toMatchObject({
      code: expect.stringMatching(/^22P/),
    });
    await client.query('ROLLBACK');
    expect(await contents()).toEqual({ first: [], second: [] });
  });

  test('are declined before the first row, with the tags up to there', async () => {
    const asked: (readonly string[])[] = [];
    const query = send([binary(1), text('2\tb\n'), text('3\n')], (tags) => {
      asked.push([...tags]);
      return false;
    });
    expect(await query.tags).toEqual(['BEGIN']);
    expect([query.isDeclined, asked]).toEqual([true, [['BEGIN']]]);
    await client.query('ROLLBACK');
    expect(await contents()).toEqual({ first: [], second: [] });
  });

  test('are asked about once, and the later ones follow', async () => {
    const asked: (readonly string[])[] = [];
    const query = send([binary(1), text(''), text('')], (tags) => asked.push([...tags]) > 0);
    await query.tags;
    expect([query.isDeclined, asked]).toEqual([false, [['BEGIN']]]);
    await contents();
  });
});
