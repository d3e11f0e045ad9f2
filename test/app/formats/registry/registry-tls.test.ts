import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { SchemaRegistry } from '../../../../app/formats/registry/schema-registry.ts';
import type { SchemaRegistrySettings } from '../../../../settings/sections/schema-registry.ts';
import { type TestAuthority, testAuthority } from '../../../integration/stack/test-authority.ts';
import type { TestCertificate } from '../../management/test-certificate.ts';
import { RegistryStub } from './registry-stub.ts';

/** Schemas of the captures. */
const [ONE, TWO] = [48, 49];
const AWAY = { name: 'OutageError', reason: 'registry_away' };
/** After so long a registry that was away is asked again. */
const PAUSE_MS = 30_000;

let company: TestAuthority;
let other: TestAuthority;
let server: TestCertificate;
let stub: RegistryStub | undefined;
let registry: SchemaRegistry | undefined;
let settings: SchemaRegistrySettings;
let now = 0;

beforeAll(async () => {
  [company, other] = [await testAuthority('company'), await testAuthority('other')];
  server = await company.issue('registry', { names: ['localhost'] });
});

afterEach(async () => {
  await registry?.close();
  await stub?.stop();
});

/** A registry that shows its certificate, and accepts clients of these authorities. */
async function open(
  tls: NonNullable<SchemaRegistrySettings['tls']>,
  { host = 'localhost', clients }: { readonly host?: string; readonly clients?: string } = {},
): Promise<(id: number) => Promise<void>> {
  const accepts = { ...server, ...(clients !== undefined && { ca: clients, requestCert: true }) };
  stub = await new RegistryStub((listener) => createServer(accepts, listener)).start();
  settings = { url: `https://${host}:${stub.port}`, timeout: '60s', tls };
  registry = new SchemaRegistry({
    current: () => settings,
    subjects: [],
    clock: { steady: () => new Date(now), wait: async () => undefined },
    outages: { failed: () => undefined, worked: () => undefined },
  });
  const opened = registry;
  return (id) => {
    now += PAUSE_MS;
    return opened.fetch(new Set([id]));
  };
}

const awayFor = (words: string) => ({ ...AWAY, message: expect.stringMatching(words) });

test('a registry whose certificate another authority signed is away, and is asked nothing, until the right one is known', async () => {
  const fetch = await open({ ca: other.ca });
  await expect(fetch(ONE)).rejects.toMatchObject(awayFor('certificate'));
  expect(stub?.requests).toEqual([]);
  settings = { ...settings, tls: { ca: company.ca } };
  await fetch(ONE);
  expect(stub?.paths).toEqual([`/schemas/ids/${ONE}`]);
});

test('a file of authorities is read anew at each connection', async () => {
  const ca = join(mkdtempSync(join(tmpdir(), 'registry-ca-')), 'ca.crt');
  writeFileSync(ca, other.ca);
  const fetch = await open({ ca });
  await expect(fetch(ONE)).rejects.toMatchObject(awayFor('certificate'));
  writeFileSync(ca, company.ca);
  await fetch(ONE);
});

test('a file of authorities that is gone is an outage that names its setting', async () => {
  const fetch = await open({ ca: '/no/such/ca.crt' });
  await expect(fetch(ONE)).rejects.toMatchObject(awayFor('schemaRegistry.tls.ca'));
});

test('a certificate for another name is refused, unless schemaRegistry.tls.serverName says which name it has', async () => {
  const fetch = await open({ ca: company.ca }, { host: '127.0.0.1' });
  await expect(fetch(ONE)).rejects.toMatchObject(awayFor('does not match|altnames'));
  settings = { ...settings, tls: { ca: company.ca, serverName: 'localhost' } };
  await fetch(ONE);
});

test('a client certificate is shown, and a renewed one at the next connection', async () => {
  const clients = await testAuthority('clients');
  const [first, second] = [await clients.issue('first'), await clients.issue('second')];
  const shown = ({ cert, key }: TestCertificate) => ({ ca: company.ca, certificate: cert, privateKey: key });
  const fetch = await open({ ca: company.ca }, { clients: clients.ca });
  await expect(fetch(ONE)).rejects.toMatchObject(awayFor('certificate required|ECONNRESET|socket hang up'));
  settings = { ...settings, tls: shown(first) };
  await fetch(ONE);
  settings = { ...settings, tls: shown(second) };
  await fetch(TWO);
  expect(stub?.subjects).toEqual(['first', 'second']);
});
