import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');

const sources = ['app', 'dev'].flatMap((room) =>
  readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(room, file)),
);

/**
 * Statements alone, written as text in a string, in any letter case. A certificate, the name of a command and a
 * method go on with more, and a block of PL/pgSQL declares its variables before.
 */
const BEGINS = /(?<!DECLARE.*)['"`;]\s*(begin|start\s+transaction)\b(?!-|\(|\s+certificate)/i;

test('every transaction begins with a statement that says its isolation level', () => {
  const begins = sources.filter((file) => BEGINS.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(begins).toEqual([join('app', 'store', 'connection', 'transaction.ts')]);
});
