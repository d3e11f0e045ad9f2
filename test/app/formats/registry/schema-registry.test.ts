import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { registrySubjects, SchemaRegistry } from '../../../../app/formats/registry/schema-registry.ts';
import type { SchemaRequestOutcome } from '../../../../contract/metrics/definition.ts';
import type { SchemaRegistrySettings } from '../../../../settings/sections/schema-registry.ts';
import { json, notFound, RegistryStub } from './registry-stub.ts';

/** Schemas of the captures. */
const [ONE, TWO] = [48, 49];
const UNKNOWN = 4_711;
const LATEST = '/subjects/payments-value/versions/latest';

let stub: RegistryStub;
let registry: SchemaRegistry;
let settings: SchemaRegistrySettings;
/** Waits are over at once, and move the clock. */
let now: number;
let waits: number[];
let outcomes: SchemaRequestOutcome[];
let log: (string | null)[];

const clock = {
  steady: () => new Date(now),
  wait: async (ms: number) => {
    waits.push(ms);
    now += ms;
  },
};

function open(others: Partial<SchemaRegistrySettings> = {}): void {
  settings = { url: stub.url, timeout: '60s', ...others };
  registry = new SchemaRegistry({
    current: () => settings,
    subjects: ['payments-value'],
    clock,
    outages: { failed: (reason) => log.push(reason), worked: () => log.push(null) },
    onOutcome: (outcome) => outcomes.push(outcome),
  });
}

const fetch = (...ids: readonly number[]): Promise<void> => registry.fetch(new Set(ids));
const AWAY = { name: 'OutageError', reason: 'registry_away' };

beforeEach(async () => {
  [now, waits, outcomes, log] = [0, [], [], []];
  stub = await new RegistryStub().start();
  open();
});

afterEach(async () => {
  await registry.close();
  await stub.stop();
});

test('a schema is asked for once, whoever needs it at the same time and later', async () => {
  expect(registry.of(ONE)).toBeUndefined();
  await Promise.all([fetch(ONE), fetch(ONE, TWO)]);
  await fetch(ONE, TWO);
  expect([...stub.paths].sort()).toEqual([`/schemas/ids/${ONE}`, `/schemas/ids/${TWO}`]);
  expect(registry.of(ONE)).toMatchObject({ id: ONE, type: 'AVRO', references: [] });
  expect(registry.size).toBe(2);
});

test('a hundred schemas of one batch are asked for, eight at once at most', async () => {
  let [running, most] = [0, 0];
  const ids = Array.from({ length: 100 }, (_, nth) => 10_000 + nth);
  for (const id of ids) {
    stub.answer(`/schemas/ids/${id}`, (request, response) => {
      running += 1;
      most = Math.max(most, running);
      setImmediate(() => {
        running -= 1;
        json(200, { schema: '"string"' })(request, response);
      });
    });
  }
  await fetch(...ids);
  expect(most).toBeLessThanOrEqual(8);
  expect(ids.filter((id) => registry.of(id) === undefined)).toEqual([]);
});

test('of a batch with more schemas than are kept, all are known until it is written', async () => {
  const ids = Array.from({ length: 1_100 }, (_, nth) => 10_000 + nth);
  stub.everything = json(200, { schema: '"string"' });
  await fetch(...ids);
  expect(ids.filter((id) => registry.of(id) === undefined)).toEqual([]);
  expect(registry.size).toBe(1_100);
});

test('of the ids that the registry cannot answer about ten thousand are kept', async () => {
  stub.everything = json(500, {});
  for (const first of [1, 5_001, 10_001]) {
    await expect(fetch(...Array.from({ length: 5_000 }, (_, nth) => first + nth))).rejects.toMatchObject(AWAY);
  }
  const asked = stub.requests.length;
  await expect(fetch(15_000)).rejects.toMatchObject(AWAY);
  expect(stub.requests).toHaveLength(asked);
  await expect(fetch(1)).rejects.toMatchObject(AWAY);
  expect(stub.requests).toHaveLength(asked + 1);
});

test('of the schemas of many batches a thousand are kept', async () => {
  stub.everything = json(200, { schema: '"string"' });
  for (const first of [1, 401, 801, 1_201]) {
    await fetch(...Array.from({ length: 400 }, (_, nth) => first + nth));
  }
  expect(registry.size).toBe(1_000);
  expect([registry.of(1), registry.of(1_600)]).toEqual([undefined, expect.objectContaining({ id: 1_600 })]);
});

describe('a registry that cannot answer is away, whatever it is that comes in place of an answer:', () => {
  test.each<[string, string, Parameters<RegistryStub['answer']>[1]]>([
    ['500', '500: broken', json(500, { message: 'broken' })],
    ['503 of a proxy', '503', (_, response) => response.writeHead(503).end('<html>no backend</html>')],
    ['408', '408', json(408, {})],
    ['429', '429', json(429, {})],
    ['a page', '200 without a schema', (_, response) => response.end('<html>Log in</html>')],
    ['JSON that is no schema', '200 without a schema', json(200, { subject: 'x' })],
    ['a redirection', '302, a redirection', (_, response) => response.writeHead(302, { location: '/login' }).end()],
    [
      'an answer that is cut',
      'does not answer',
      (_, response) => response.writeHead(200, { 'content-length': 100 }).write('{', () => response.destroy()),
    ],
    ['a connection that is closed', 'does not answer', (request) => request.destroy()],
    ['an answer of 9 MiB', 'more than 8388608 bytes', json(200, { schema: 'x'.repeat(9 * 1_048_576) })],
    ['401', '401: who?', json(401, { error_code: 40101, message: 'who?' })],
    ['403', '403', json(403, {})],
    ['404 of a wrong path', 'check the path', (_, response) => response.writeHead(404).end('<html>')],
  ])('%s', async (_name, words, answer) => {
    stub.answer(`/schemas/ids/${ONE}`, answer);
    await expect(fetch(ONE)).rejects.toMatchObject({ ...AWAY, message: expect.stringContaining(words) });
    expect(registry.of(ONE)).toBeUndefined();
    expect(log.at(-1)).toContain(words);
    stub.answer(`/schemas/ids/${ONE}`, json(200, { schema: '"string"' }));
    now += 200;
    await fetch(ONE);
    expect(registry.of(ONE)).toMatchObject({ text: '"string"' });
    expect(log.at(-1)).toBeNull();
  });

  test('nothing at all, for as long as schemaRegistry.timeout', async () => {
    open({ timeout: '50ms' });
    stub.answer(`/schemas/ids/${ONE}`, () => undefined);
    await expect(fetch(ONE)).rejects.toMatchObject({ ...AWAY, message: expect.stringContaining('within 50ms') });
  });

  test('a port that nobody listens on', async () => {
    open({ url: 'http://127.0.0.1:1' });
    await expect(fetch(ONE)).rejects.toMatchObject({ ...AWAY, message: expect.stringContaining('ECONNREFUSED') });
    expect(outcomes).toEqual(['away']);
  });
});

test('a registry that is away is asked later and later: from 0.2 to 30 s', async () => {
  stub.answer(`/schemas/ids/${ONE}`, json(500, {}));
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 9; attempt += 1) {
    const { retryAfterMs } = await fetch(ONE).catch((error) => error);
    pauses.push(retryAfterMs);
    now += retryAfterMs - 1;
    await expect(fetch(ONE)).rejects.toMatchObject({ ...AWAY, retryAfterMs: 1 });
    expect(stub.requests).toHaveLength(attempt + 1);
    now += 1;
  }
  expect(pauses).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000]);
});

test('a registry that asks to be left alone is, for as long as it says', async () => {
  stub.answer(`/schemas/ids/${ONE}`, json(429, {}, { 'retry-after': '7' }));
  await expect(fetch(ONE)).rejects.toMatchObject({ ...AWAY, retryAfterMs: 7_000 });
});

test('what one schema waits for holds up no other', async () => {
  stub.answer(`/schemas/ids/${ONE}`, json(500, {}));
  await expect(fetch(ONE, TWO)).rejects.toMatchObject(AWAY);
  await fetch(TWO);
  expect(registry.of(TWO)).toBeDefined();
});

test('requests that wait for their turn fail with the one that found the registry away', async () => {
  stub.everything = json(500, {});
  const ids = Array.from({ length: 100 }, (_, nth) => nth + 1);
  await expect(fetch(...ids)).rejects.toMatchObject(AWAY);
  expect(stub.requests.length).toBeLessThan(20);
});

test('when a URL does not answer, the next one is asked, and then first', async () => {
  open({ url: ['http://127.0.0.1:1', stub.url] });
  await fetch(ONE);
  await fetch(TWO);
  expect(outcomes).toEqual(['away', 'found', 'found']);
});

test('a schema that is unknown once, as of a follower that lags, is asked for again after 5 s', async () => {
  stub.answer(`/schemas/ids/${ONE}`, notFound(40403), json(200, { schema: '"string"' }));
  await fetch(ONE);
  expect(waits).toEqual([5_000]);
  expect(registry.of(ONE)).toMatchObject({ text: '"string"' });
});

test('a schema that is unknown twice, to a registry that has others, is unknown for 60 s', async () => {
  await fetch(ONE);
  await fetch(UNKNOWN);
  const words = `the registry was asked twice for schema ${UNKNOWN}, and has none`;
  expect(registry.of(UNKNOWN)).toEqual({ id: UNKNOWN, reason: 'unknown_schema', words });
  const asked = stub.requests.length;
  now += 59_999;
  await fetch(UNKNOWN);
  expect(stub.requests).toHaveLength(asked);
  now += 1;
  stub.answer(`/schemas/ids/${UNKNOWN}`, json(200, { schema: '"string"' }));
  await fetch(UNKNOWN);
  expect(registry.of(UNKNOWN)).toMatchObject({ text: '"string"' });
});

test('the first schema that is unknown is so only where the registry has the latest one of a topic', async () => {
  stub.answer(LATEST, json(200, { id: ONE, schema: '"string"' }));
  await fetch(UNKNOWN);
  expect(registry.of(UNKNOWN)).toMatchObject({ reason: 'unknown_schema' });
});

test('a registry that gets its data back before it is asked for other data makes no schema unknown', async () => {
  const restored = json(200, { schema: '"string"' });
  stub.answer(`/schemas/ids/${UNKNOWN}`, notFound(40403), notFound(40403), restored);
  stub.answer(LATEST, json(200, { id: ONE, schema: '"string"' }));
  await fetch(UNKNOWN);
  expect(registry.of(UNKNOWN)).toMatchObject({ text: '"string"' });
});

test('a registry that has lost its data is away, and makes no schema unknown', async () => {
  await fetch(ONE);
  stub.everything = notFound(40403);
  await expect(fetch(UNKNOWN)).rejects.toMatchObject({
    ...AWAY,
    message: expect.stringContaining('has lost its data'),
  });
  expect(registry.of(UNKNOWN)).toBeUndefined();
  expect(registry.of(ONE)).toBeDefined();
});

test('a schema of more than 1 MiB with what it refers to cannot be used either', async () => {
  const half = 'x'.repeat(600_000);
  const references = [{ name: 'a', subject: 'a', version: 1 }];
  stub.answer('/schemas/ids/1', json(200, { schema: half, references }));
  stub.answer('/subjects/a/versions/1?deleted=true', json(200, { schema: half }));
  await fetch(1);
  expect(registry.of(1)).toMatchObject({ reason: 'undecodable', words: expect.stringContaining('more than 1048576') });
});

test('a schema of more than 1 MiB cannot be used, and is asked for once', async () => {
  stub.answer('/schemas/ids/1', json(200, { schema: 'x'.repeat(1_048_577) }));
  await fetch(1);
  await fetch(1);
  expect(registry.of(1)).toMatchObject({ reason: 'undecodable', words: expect.stringContaining('schema 1') });
  expect(stub.requests).toHaveLength(1);
});

test('ids count within a context', async () => {
  open({ context: 'payments' });
  stub.everything = json(200, { id: 1, schema: '"string"' });
  await fetch(1);
  await registry.latest('payments-value');
  expect(stub.paths).toEqual([
    '/schemas/ids/1?subject=%3A.payments%3A',
    '/subjects/%3A.payments%3Apayments-value/versions/latest',
  ]);
});

describe('at the start', () => {
  test('the latest schema of each subject is asked for, and may be missing', async () => {
    await registry.check();
    expect(stub.paths).toEqual([LATEST]);
  });

  test.each<[string, Parameters<RegistryStub['answer']>[1]]>([
    ['a login that is refused', json(401, { error_code: 40101, message: 'Unauthorized' })],
    ['what the login may not read', json(403, {})],
    ['a wrong path', (_, response) => response.writeHead(404).end()],
  ])('%s ends it', async (_name, answer) => {
    stub.answer(LATEST, answer);
    await expect(registry.check()).rejects.toMatchObject({ name: 'FatalError', code: 'REGISTRY_REFUSED' });
  });

  test('a registry that is away does not', async () => {
    stub.answer(LATEST, json(503, {}));
    await registry.check();
    expect(log).toEqual([expect.stringContaining('503')]);
  });
});

test('the subjects are those of topics that formats name, and of topics that its templates match', () => {
  const formats = { orders: 'registry', 'shop.{table}': { key: 'registry', value: 'registry' } } as const;
  const subjects = ['orders-value', 'shop.a-value', 'shop.a-key'];
  expect(registrySubjects({ formats }, ['shop.a', 'other', 'orders'])).toEqual(subjects);
});
