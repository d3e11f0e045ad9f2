import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { folderWith } from '../../app/configuration/folder.ts';
import { json } from '../../app/formats/registry/registry-stub.ts';
import { DdlShop, valuesOf } from './ddl-shop.ts';

const shop = new DdlShop();

beforeAll(() => shop.start());

afterAll(() => shop.stop());

const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n');

describe('tables ddl by records', () => {
  test('takes numeric for what bigint does not hold, and no date for what is none', async () => {
    const values = valuesOf('{"most": 9223372036854775807, "beyond": 9223372036854775808, "day": "2026-13-45"}');
    const text = await shop.printed([{ topic: 'odd', table: 'shop.odd' }], { topics: { odd: values } });
    expect(linesOf(text)).toEqual(
      expect.arrayContaining([
        '  most bigint, -- REVIEW: whole numbers in 1 of 1 records',
        '  beyond numeric, -- REVIEW: whole numbers in 1 of 1 records',
        '  day text -- REVIEW: texts in 1 of 1 records',
      ]),
    );
  });

  test('names the offsets of five partitions, and counts the others', async () => {
    const records = [0, 1, 2, 3, 4, 5, 6].map((partition) => ({ value: '{"id":1}', partition }));
    const text = await shop.printed([{ topic: 'wide', table: 'shop.wide' }], { topics: { wide: records } });
    const named = [0, 1, 2, 3, 4].map((partition) => `0-0 of partition ${partition}`).join(', ');
    expect(linesOf(text)[1]).toBe(`-- 7 records of wide: offsets ${named}, and of 2 other partitions`);
  });

  test('has no column for the field that marks a delete, nor by records that conditions on headers leave out', async () => {
    const records = [
      { value: '{"id":1,"gone":false,"name":"Ada"}', headers: { kind: 'customer' } },
      { value: '{"id":1,"amount":7}', headers: { kind: 'order' } },
    ];
    const table = {
      topic: 'mixed',
      table: 'shop.mixed',
      key: 'id',
      delete: 'gone',
      when: { '$header.kind': 'customer' },
    };
    const text = await shop.printed([table], { topics: { mixed: records } });
    expect(linesOf(text).filter((line) => line.startsWith('  '))).toEqual([
      '  id bigint NOT NULL, -- REVIEW: whole numbers in 1 of 1 records',
      '  name text, -- REVIEW: texts in 1 of 1 records',
      '  PRIMARY KEY (id)',
    ]);
  });

  test('makes one index, by the first entry, for keys of the same columns in another order', async () => {
    const entry = { table: 'shop.pairs' };
    const tables = [
      { ...entry, topic: 'one', key: ['a', 'b'] },
      { ...entry, topic: 'other', key: ['b', 'a'] },
    ];
    const values = valuesOf({ a: 1, b: 2 });
    const text = await shop.printed(tables, { topics: { one: values, other: values } });
    expect(text).toContain('PRIMARY KEY (a, b)');
    expect(text).not.toContain('INDEX');
  });

  test('prints as many columns as a table of PostgreSQL has', async () => {
    const value = Object.fromEntries(Array.from({ length: 1_700 }, (_, nth) => [`f${nth}`, nth]));
    const { code, stdout } = await shop.ddl([{ topic: 'fields', table: 'shop.fields' }], {
      topics: { fields: valuesOf(value) },
    });
    expect(code).toBe(0);
    expect(linesOf(stdout).filter((line) => line.startsWith('  f'))).toHaveLength(1_600);
  });
});

describe('tables ddl for what is there', () => {
  test('adds columns to a table with rows, which no column without a default may refuse', async () => {
    await shop.execute('CREATE SCHEMA shop; CREATE TABLE shop.orders (id bigint PRIMARY KEY)');
    await shop.execute('INSERT INTO shop.orders VALUES (1)');
    const schema = JSON.stringify({
      type: 'record',
      name: 'Order',
      fields: ['id', 'amount'].map((name) => ({ name, type: 'long' })),
    });
    const formats = { orders: { value: { avro: join(folderWith({ 'order.avsc': schema }), 'order.avsc') } } };
    const table = { topic: 'orders', table: 'shop.orders', key: 'id' };
    // The schema of a file counts, whatever is asked for.
    const given = { topics: { orders: [] }, formats, args: ['--from', 'records'] };
    const { stdout, place } = await shop.ddl([table], given);
    expect(stdout).toContain('  ADD COLUMN amount bigint; -- each record has one; rows that are there have none');
    await shop.execute(stdout);
    expect(await place.run(['check'])).toMatchObject({ code: 0, stderr: '' });
    await shop.execute('DROP SCHEMA shop CASCADE');
  });

  test('adds none to a view, and says what it is', async () => {
    await shop.execute('CREATE SCHEMA shop; CREATE VIEW shop.orders AS SELECT 1 AS id');
    const table = { topic: 'orders', table: 'shop.orders' };
    const { code, stdout } = await shop.ddl([table], { topics: { orders: valuesOf({ id: 1, amount: 2 }) } });
    await shop.execute('DROP SCHEMA shop CASCADE');
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/^ *(ALTER|ADD)/m);
    expect(stdout).toMatch(/^-- REVIEW: .*view/m);
  });

  test('has a remark for a schema of another type, as of a registry that has more of them', async () => {
    const place = await shop.place([{ topic: 'things', table: 'shop.things' }], {
      topics: { things: [] },
      formats: { things: 'registry' },
    });
    const answer = json(200, { version: 1, id: 8, schemaType: 'THRIFT', schema: '' });
    shop.registry.answer(`/subjects/${place.topic('things')}-value/versions/latest`, answer);
    const { code, stdout } = await place.run(['ddl']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^-- REVIEW: schema 8 is of a type that is not read$/m);
  });
});
