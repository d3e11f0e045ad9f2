import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import pg from 'pg';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');

const read = (...path: readonly string[]) => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'));

test('pg is pinned: package.json names one version, the lock file has it, and it is the one that the program is made for', async () => {
  const { PG_VERSION } = await import('../../../../app/store/connection/pg-internals.ts');
  expect(read('package.json').dependencies.pg).toBe(PG_VERSION);
  const { packages } = read('package-lock.json');
  expect(packages[''].dependencies.pg).toBe(PG_VERSION);
  expect(packages['node_modules/pg'].version).toBe(PG_VERSION);
  expect(read('node_modules', 'pg', 'package.json').version).toBe(PG_VERSION);
});

const socket = { write() {}, cork() {}, uncork() {}, destroy() {}, setTimeout() {}, off() {} };
const connection = { query() {}, attachListeners() {}, endCopyFrom() {}, sendCopyFail() {}, stream: socket };

const clientWith = (has: unknown) =>
  class {
    readonly connection = has;
  } as unknown as typeof pg.Client;

test.each([
  [
    'no connection',
    undefined,
    'connection.query(), connection.attachListeners(), connection.endCopyFrom(), connection.sendCopyFail(), ',
  ],
  ['a connection that cannot end COPY', { ...connection, endCopyFrom: undefined }, 'no connection.endCopyFrom();'],
  ['a connection that cannot fail COPY', { ...connection, sendCopyFail: 'no' }, 'no connection.sendCopyFail();'],
  ['no socket', { ...connection, stream: null }, 'no connection.stream.write(), connection.stream.cork(), '],
  ['another socket', { ...connection, stream: { ...socket, setTimeout: 5 } }, 'no connection.stream.setTimeout();'],
])('a pg whose clients have %s is refused', async (_, has, words) => {
  const { requireKnownPg } = await import('../../../../app/store/connection/pg-internals.ts');
  expect(() => requireKnownPg({ Client: clientWith(has) })).toThrow(words);
  expect(() => requireKnownPg({ Client: clientWith(has) })).toThrow('made for pg 8.23.1: run npm ci');
});

test('a pg whose clients have all of it is taken', async () => {
  const { requireKnownPg } = await import('../../../../app/store/connection/pg-internals.ts');
  expect(() => requireKnownPg({ Client: clientWith(connection) })).not.toThrow();
  expect(() => requireKnownPg(pg)).not.toThrow();
});

test.each(['connection/pg-internals', 'connection/database-pool', 'database-check'])(
  'it is refused when %s is loaded, before anything is written',
  async (name) => {
    jest.resetModules();
    const other = (await import('pg')).default;
    const { endCopyFrom } = other.Connection.prototype as { endCopyFrom?: () => void };
    Reflect.deleteProperty(other.Connection.prototype, 'endCopyFrom');
    const loaded = import(`../../../../app/store/${name}.ts`);
    await expect(loaded).rejects.toThrow('a client of the pg that is installed has no connection.endCopyFrom();');
    Object.assign(other.Connection.prototype, { endCopyFrom });
  },
);
