import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { loadSettings } from '../../app/configuration/load-settings.ts';
import { containerHealth } from '../../app/health-check.ts';
import { managementEndpoint } from '../../contract/actuator.ts';
import { CONTAINER_PATH } from '../../contract/container.ts';
import { freePort } from '../../dev/run/free-port.ts';
import { describeProblem } from '../../settings/schema/problem.ts';
import { type RunningManagement, startManagement } from '../app/management/running-management.ts';
import { certificateFolder, testCertificate } from '../app/management/test-certificate.ts';
import { exampleConsumer } from '../charts/example-consumer.ts';
import { type ManifestRequest, manifestRequests, type Secrets } from './manifest-requests.ts';

let secrets: Secrets;
let certificates: string;
let running: RunningManagement | undefined;

beforeAll(async () => {
  const made = await testCertificate('orders-consumer', 'orders-consumer.stream-consumer.svc');
  certificates = certificateFolder(made);
  secrets = {
    'orders-consumer-database': { url: 'postgresql://db/orders' },
    access: { token: 'b-7f3a', username: 'prometheus', password: 'p:ss' },
    certificate: { 'tls.crt': made.cert, 'tls.key': made.key, 'ca.crt': made.cert },
  };
});
afterEach(async () => {
  await running?.management.stop();
  running = undefined;
});

const tls = (more: object = {}) => ({ tls: { existingSecret: 'certificate', ...more } });
const credentials = (type: string) => ({ credentials: { existingSecret: 'access', type } });
const web = (basePath: string) => ({ endpoints: { web: { 'base-path': basePath } } });

type Case = readonly [string, (port: number) => object];

const CASES: readonly Case[] = [
  ['another port', (port) => ({ application: { server: { port } } })],
  ['a management port', (port) => ({ application: { management: { server: { port } } } })],
  ['a base path', (port) => ({ application: { server: { port }, management: web('/manage/') } })],
  ['no base path', (port) => ({ application: { server: { port }, management: web('') } })],
  ['probes of the groups', (port) => ({ probes: { paths: 'groups' }, application: { server: { port } } })],
  ['TLS', (port) => ({ monitoring: tls(), application: { server: { port } } })],
  ['TLS that nobody verifies', (port) => ({ monitoring: tls({ verify: false }), application: { server: { port } } })],
  ['a token', (port) => ({ monitoring: credentials('bearer'), application: { server: { port } } })],
  ['user and password', (port) => ({ monitoring: credentials('basic'), application: { server: { port } } })],
  [
    'a credential as files',
    (port) => ({ secrets: { as: 'files' }, monitoring: credentials('basic'), application: { server: { port } } }),
  ],
  [
    'all of it',
    (port) => ({
      probes: { paths: 'groups' },
      monitoring: { ...tls(), ...credentials('bearer') },
      application: { management: { server: { port, address: '0.0.0.0' }, ...web('/ops/actuator') } },
    }),
  ],
];

/** What comes back, over a connection to this machine under whatever name it is asked by; 0: nothing does. */
function answer({ scheme, port, path, authorization, trust }: ManifestRequest) {
  return new Promise<{ status: number; body: string }>((resolve) => {
    const client = scheme.toLowerCase() === 'https' ? https : http;
    const options = { host: '127.0.0.1', port, path, agent: false, rejectUnauthorized: trust !== undefined, ...trust };
    const request = client.get({ ...options, headers: authorization ? { authorization } : {} }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    request.on('error', ({ message }) => resolve({ status: 0, body: message }));
  });
}

/** Starts the server as the Pod would: with the ConfigMap, the Secrets in the environment or as files, and the certificate. */
async function startAsPod({ applicationYaml, secretFiles, env }: ReturnType<typeof manifestRequests>) {
  const pod = mkdtempSync(join(tmpdir(), 'stream-consumer-pod-'));
  const configFile = join(pod, 'application.yml');
  writeFileSync(configFile, applicationYaml.replaceAll(CONTAINER_PATH.certificate, certificates));
  for (const [path, content] of secretFiles) {
    const file = join(pod, 'secrets', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  const configTree = env['CONFIG_TREE'] === undefined ? undefined : join(pod, 'secrets');
  const sources = { configFile, configTree, env, cwd: '/' };
  const settings = loadSettings(sources);
  if (!settings.ok) {
    throw new Error(settings.problems.map(describeProblem).join('\n'));
  }
  running = await startManagement({ settings: settings.value });
  return sources;
}

describe.each(CASES)('with %s', (_what, changesFor) => {
  test('probes, health check, Service, policy and every way of scraping find the server', async () => {
    const port = await freePort();
    const places = manifestRequests(changesFor(port), secrets);
    const sources = await startAsPod(places);
    expect(places.admitted).toEqual([port]);
    for (const probe of places.probes) {
      expect(await answer(probe)).toMatchObject({ status: 200, body: expect.stringContaining('"status":"UP"') });
    }
    expect(await containerHealth(sources)).toMatchObject({ isHealthy: true });
    const scrapes = [...places.operatorScrapes, ...places.plainScrapes];
    expect(scrapes).toHaveLength(4);
    for (const scrape of scrapes) {
      expect(await answer(scrape)).toMatchObject({
        status: 200,
        body: expect.stringContaining('jvm_memory_used_bytes'),
      });
    }
  });
});

test('a scrape that shows no credential or another, or speaks plain HTTP, is refused, and one that trusts another authority ends', async () => {
  const port = await freePort();
  const places = manifestRequests(
    { monitoring: { ...tls(), ...credentials('bearer') }, application: { server: { port } } },
    secrets,
  );
  await startAsPod(places);
  const [scrape] = places.operatorScrapes;
  if (scrape?.trust === undefined) {
    throw new Error('no scrape that verifies the certificate');
  }
  const { authorization: _right, ...without } = scrape;
  const { cert: ca } = await testCertificate('another');
  expect(await answer(without)).toMatchObject({ status: 401 });
  expect(await answer({ ...scrape, authorization: 'Bearer b' })).toMatchObject({ status: 401 });
  expect(await answer({ ...scrape, trust: { ...scrape.trust, ca } })).toMatchObject({ status: 0 });
  expect(await answer({ ...scrape, trust: { ...scrape.trust, servername: 'other.svc' } })).toMatchObject({ status: 0 });
  expect(await answer({ ...scrape, scheme: 'http' })).toMatchObject({ status: 400 });
});

test.each([
  ['/actuator', '/actuator', '/actuator/health'],
  ['/manage/', '/manage', '/manage/health'],
  ['', '/', '/health'],
  ['/', '/', '/health'],
])('the base path %j has its list at %s and the health at %s', (basePath, indexPath, healthPath) => {
  const { settings } = exampleConsumer({ application: { management: web(basePath) } });
  expect(managementEndpoint(settings)).toMatchObject({ indexPath, healthPath });
});
