import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SchemaRegistry } from '../../../../app/formats/registry/schema-registry.ts';
import type { SchemaRegistrySettings } from '../../../../settings/sections/schema-registry.ts';
import { json, notFound, RegistryStub } from './registry-stub.ts';

/** A schema of the captures. */
const ONE = 48;

let stub: RegistryStub;
let registry: SchemaRegistry;
let waits: number[];

const fetch = (id: number): Promise<void> => registry.fetch(new Set([id]));

beforeEach(async () => {
  waits = [];
  stub = await new RegistryStub().start();
  open();
});

function open(others: Partial<SchemaRegistrySettings> = {}): void {
  const settings = { url: stub.url, timeout: '60s', ...others };
  const wait = async (ms: number) => void waits.push(ms);
  registry = new SchemaRegistry({
    current: () => settings,
    subjects: [],
    clock: { steady: () => new Date(0), wait },
    outages: { failed: () => undefined, worked: () => undefined },
  });
}

afterEach(async () => {
  await registry.close();
  await stub.stop();
});

const referring = (...subjects: readonly string[]) => ({
  schema: `"${subjects.join('')}"`,
  references: subjects.map((subject) => ({ name: `name.of.${subject}`, subject, version: 1 })),
});
const at = (subject: string) => `/subjects/${subject}/versions/1?deleted=true`;

test('what a schema refers to comes before it, each of them once', async () => {
  stub.answer('/schemas/ids/1', json(200, referring('a', 'b')));
  stub.answer(at('a'), json(200, referring('b')));
  stub.answer(at('b'), json(200, { schema: '"base"' }));
  await fetch(1);
  expect(registry.of(1)).toMatchObject({
    references: [
      { name: 'name.of.b', text: '"base"' },
      { name: 'name.of.a', text: '"b"' },
    ],
  });
  expect(stub.requests).toHaveLength(3);
});

test('what a schema refers to is of its context, unless it names another one', async () => {
  await registry.close();
  open({ context: 'shop' });
  const within = (context: string, subject: string) => at(encodeURIComponent(`:.${context}:${subject}`));
  stub.answer(`/schemas/ids/1?subject=${encodeURIComponent(':.shop:')}`, json(200, referring('a', ':.other:b')));
  stub.answer(within('shop', 'a'), json(200, { schema: '"base"' }));
  stub.answer(within('other', 'b'), json(200, referring('c')));
  stub.answer(within('other', 'c'), json(200, { schema: '"another"' }));
  await fetch(1);
  const texts = ['"base"', '"another"', '"c"'];
  expect(registry.of(1)).toMatchObject({ references: texts.map((text) => expect.objectContaining({ text })) });
});

test('what a schema refers to may not be itself', async () => {
  stub.answer('/schemas/ids/1', json(200, referring('a')));
  stub.answer(at('a'), json(200, referring('b')));
  stub.answer(at('b'), json(200, referring('a')));
  await fetch(1);
  expect(registry.of(1)).toMatchObject({
    reason: 'undecodable',
    words: 'schema 1 refers to itself by way of others',
  });
});

test('what a schema refers to is at most 200 schemas', async () => {
  const subjects = Array.from({ length: 201 }, (_, nth) => `s${nth}`);
  stub.answer('/schemas/ids/1', json(200, referring(...subjects)));
  for (const subject of subjects) {
    stub.answer(at(subject), json(200, { schema: '"x"' }));
  }
  await fetch(1);
  expect(registry.of(1)).toMatchObject({ reason: 'undecodable', words: 'schema 1 refers to more than 200 others' });
});

test('what a schema refers to is asked for twice before it is unknown', async () => {
  await fetch(ONE);
  stub.answer('/schemas/ids/1', json(200, referring('a')));
  stub.answer(at('a'), notFound(40402));
  await fetch(1);
  expect(registry.of(1)).toMatchObject({
    reason: 'unknown_schema',
    words: expect.stringContaining('schema 1 refers to'),
  });
  // And all of it once more, once the registry has shown that it has other data.
  expect(waits).toEqual([5_000, 5_000]);
});
