import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SchemaRegistry } from '../../../../app/formats/registry/schema-registry.ts';
import type { SchemaRegistrySettings } from '../../../../settings/sections/schema-registry.ts';
import { json, RegistryStub } from './registry-stub.ts';

/** Schemas of the captures. */
const [ONE, TWO] = [48, 49];

let stub: RegistryStub;
let registry: SchemaRegistry;
let settings: SchemaRegistrySettings;

function open(login: Partial<SchemaRegistrySettings>): void {
  settings = { url: stub.url, timeout: '60s', ...login };
  registry = new SchemaRegistry({
    current: () => settings,
    subjects: [],
    clock: { steady: () => new Date(0), wait: async () => undefined },
    outages: { failed: () => undefined, worked: () => undefined },
    onOutcome: () => undefined,
  });
}

const fetch = (id: number): Promise<void> => registry.fetch(new Set([id]));

beforeEach(async () => {
  stub = await new RegistryStub().start();
});

afterEach(async () => {
  await registry.close();
  await stub.stop();
});

test('a login by user is read anew for each request', async () => {
  open({ username: 'consumer', password: 'old-secret' });
  await fetch(ONE);
  settings = { ...settings, password: 'new-secret' };
  await fetch(TWO);
  const basic = (password: string) => `Basic ${Buffer.from(`consumer:${password}`).toString('base64')}`;
  expect(stub.requests.map(({ headers }) => headers.authorization)).toEqual([basic('old-secret'), basic('new-secret')]);
});

test('a login is in no message, even where the registry repeats them', async () => {
  open({ token: 'very-secret-token' });
  stub.answer(`/schemas/ids/${ONE}`, (request, response) =>
    json(401, { message: `no such token: ${request.headers.authorization}` })(request, response),
  );
  const error = await fetch(ONE).catch((reason) => reason);
  expect(error.message).toContain('no such token');
  expect(error.message).not.toContain('very-secret-token');
});

test('a login by OAuth asks for a token, once more where the registry takes one no longer', async () => {
  let tokens = 0;
  const endpoint = await new RegistryStub().start();
  endpoint.everything = (request, response) => {
    tokens += 1;
    json(200, { access_token: `token-${tokens}`, expires_in: 3_600 })(request, response);
  };
  const client = { tokenEndpoint: `${endpoint.url}/token`, clientId: 'consumer', clientSecret: 'secret' };
  open({ oauth: { ...client, logicalCluster: 'lsrc-abc123', identityPoolId: 'pool-abc1' } });
  stub.answer(`/schemas/ids/${TWO}`, json(401, {}), json(200, { schema: '"string"' }));
  await fetch(ONE);
  await fetch(TWO);
  await endpoint.stop();
  expect(stub.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer token-1',
    'Bearer token-1',
    'Bearer token-2',
  ]);
  expect(stub.requests[0]?.headers).toMatchObject({
    'target-sr-cluster': 'lsrc-abc123',
    'confluent-identity-pool-id': 'pool-abc1',
  });
});
