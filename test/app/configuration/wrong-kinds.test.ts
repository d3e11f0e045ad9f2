import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { configure } from '../../../app/commands/configure.ts';
import { loadSettings } from '../../../app/configuration/load-settings.ts';
import { FILE_RULES } from '../../../app/credentials/tls-files.ts';
import type { Problem } from '../../../settings/schema/problem.ts';
import type { SchemaNode } from '../../../settings/schema/schema.ts';
import { SettingsSchema } from '../../../settings/settings.ts';
import { longTest } from '../../integration/stack/long-test.ts';
import {
  type CheckedDocument,
  falseMistakes,
  faultsOfKinds,
  type Mistake,
  replaced,
} from '../../settings/wrong-kinds.ts';
import { testCertificate } from '../management/test-certificate.ts';
import { canary, randomNumbers, told } from './canaries.ts';
import { folderWith } from './folder.ts';

const GROUPS = 'management.endpoint.health.group';
const ADMIN = 'spring.boot.admin.client';

/** Groups, since not all mistakes can be made together. */
const MISTAKES: readonly (readonly Mistake[])[] = [
  [
    {
      at: 'database.url',
      value: 'postgresql://h/d?sslmode=disable',
      problem: 'database.url asks for no TLS beside database.tls',
      needs: ['database.url', 'database.tls.ca'],
    },
    {
      at: 'kafka.ssl',
      value: false,
      problem: 'kafka.tls is set, but the connections',
      needs: ['kafka.ssl', 'kafka.tls'],
    },
  ],
  [
    { at: 'kafka.brokers[1]', value: 'b:0', problem: 'kafka.brokers[1] has a port', needs: [] },
    { at: 'kafka.tls.ca', value: '/no/ca', problem: 'kafka.tls.ca names a file', needs: ['kafka.tls.ca'] },
    {
      at: 'database.url',
      value: 'postgresql://h/d?sslmod=x',
      problem: 'database.url has an unknown parameter',
      needs: ['database.url'],
    },
    { at: 'database.tls.ca', value: '/no/ca', problem: 'database.tls.ca names a file', needs: ['database.tls.ca'] },
    {
      at: 'management.metrics.tags.le',
      value: 'x',
      problem: 'management.metrics.tags.le is the name of a label',
      needs: [],
    },
    {
      at: `${GROUPS}.a.additional-path`,
      value: 'server:/b',
      problem: `${GROUPS}.b.additional-path is already the path`,
      needs: [`${GROUPS}.a`, `${GROUPS}.b`],
    },
    { at: `${ADMIN}.url[1]`, value: 'http://h:99999', problem: `${ADMIN}.url[1] is not a URL`, needs: [] },
    { at: 'shutdown.timeout', value: '0s', problem: 'shutdown.timeout is out of range', needs: ['shutdown.timeout'] },
    { at: 'tables[1].columns.x', value: 'a..b', problem: 'tables[1].columns.x has a dot', needs: ['tables[1]'] },
    { at: 'tables[1].delete', value: 'a', problem: 'tables[1].delete is set without key', needs: ['tables[1]'] },
    {
      at: 'formats.other',
      value: 'text',
      problem: 'formats.other is the format of a topic',
      needs: ['kafka.topics', 'tables'],
    },
    {
      at: 'schemaRegistry.url[1]',
      value: 'https://h/a?b=c',
      problem: 'schemaRegistry.url[1] has a query',
      needs: ['schemaRegistry.url'],
    },
    {
      at: 'schemaRegistry.tls.ca',
      value: '/no/ca',
      problem: 'schemaRegistry.tls.ca names a file',
      needs: ['schemaRegistry.tls.ca'],
    },
  ],
  [
    {
      at: 'kafka.tls.privateKey',
      value: undefined,
      problem: 'kafka.tls.privateKey is missing',
      needs: ['kafka.tls.certificate', 'kafka.tls.privateKey'],
    },
    {
      at: 'kafka.sasl.password',
      value: undefined,
      problem: 'kafka.sasl.password is missing',
      needs: ['kafka.sasl'],
    },
    {
      at: 'database.tls.privateKey',
      value: undefined,
      problem: 'database.tls.certificate has no',
      needs: ['database.tls.certificate', 'database.tls.privateKey'],
    },
    {
      at: 'deadLetters.topic',
      value: 'orders',
      problem: 'deadLetters.topic is a topic that is read',
      needs: ['deadLetters.to', 'deadLetters.topic', 'kafka.topics', 'tables'],
    },
    {
      at: 'formats.items',
      value: ['text', 'bytes'],
      problem: 'formats.items names two formats',
      needs: ['formats.items'],
    },
    {
      at: 'schemaRegistry.password',
      value: undefined,
      problem: 'schemaRegistry.password is missing',
      needs: ['schemaRegistry.username', 'schemaRegistry.password'],
    },
    {
      at: 'schemaRegistry.tls.privateKey',
      value: undefined,
      problem: 'schemaRegistry.tls.privateKey is missing',
      needs: ['schemaRegistry.tls.certificate', 'schemaRegistry.tls.privateKey'],
    },
    {
      at: 'management.security.password',
      value: undefined,
      problem: 'management.security.password is missing',
      needs: ['management.security.username', 'management.security.password'],
    },
    {
      at: `${ADMIN}.password`,
      value: undefined,
      problem: `${ADMIN}.password is missing`,
      needs: [`${ADMIN}.username`, `${ADMIN}.password`],
    },
    {
      at: 'management.endpoint.health.probes.enabled',
      value: false,
      problem: `${GROUPS}.a.include[0] is a component that is not there`,
      needs: [`${GROUPS}.a`, 'management.endpoint.health.probes.enabled'],
    },
    {
      at: 'server.ssl.certificate',
      value: '/no/tls.crt',
      problem: 'server.ssl.certificate names a file',
      needs: ['server.ssl'],
    },
    {
      at: 'database.rdsIam.enabled',
      value: true,
      problem: 'database.rdsIam.enabled has a password beside it',
      needs: ['database.rdsIam.enabled', 'database.url', 'database.password'],
    },
  ],
];

const random = randomNumbers(26);
const SECRETS = {
  wrong: canary(random),
  url: canary(random),
  database: canary(random),
  kafka: canary(random),
  token: canary(random),
  management: canary(random),
  admin: canary(random),
  registry: canary(random),
};

let secrets: readonly string[];
let right: object;
let folder: string;

beforeAll(async () => {
  const { cert, key } = await testCertificate('client');
  folder = folderWith({ 'tls.crt': cert, 'tls.key': key });
  secrets = [...Object.values(SECRETS), key.split('\n')[1] ?? ''];
  const tls = { ca: cert, certificate: cert, privateKey: key };
  right = {
    server: { ssl: { certificate: join(folder, 'tls.crt'), 'certificate-private-key': join(folder, 'tls.key') } },
    kafka: {
      brokers: ['a:1', 'b:1'],
      topics: ['orders'],
      groupId: 'g',
      ssl: true,
      tls,
      sasl: { mechanism: 'scram-sha-256', username: 'u', password: SECRETS.kafka },
    },
    database: { url: `postgresql://u:${SECRETS.url}@h/d`, password: SECRETS.database, tls },
    tables: [
      { topic: 'items', table: 's.t', key: 'x', columns: { x: '$key', custom: { from: 'a' } } },
      { topic: 'items', table: 's.u', columns: { x: 'a' } },
    ],
    formats: { orders: 'registry', items: { key: 'registry', value: ['registry', 'json'] } },
    schemaRegistry: { url: ['https://a', 'https://b'], username: 'u', password: SECRETS.registry, tls },
    deadLetters: { to: 'both', topic: 'letters' },
    management: {
      security: { token: SECRETS.token, username: 'u', password: SECRETS.management },
      endpoint: {
        health: { group: { a: { include: ['livenessState'] }, b: { 'additional-path': 'server:/b' } } },
      },
    },
    spring: { boot: { admin: { client: { url: ['http://g'], username: 'a', password: SECRETS.admin } } } },
  };
});

function problemsOf(document: unknown): readonly Problem[] {
  writeFileSync(join(folder, 'application.yml'), JSON.stringify(document));
  const loaded = loadSettings({ env: {}, cwd: folder, rules: FILE_RULES });
  return loaded.ok ? [] : loaded.problems;
}

const document = (): CheckedDocument => ({
  schema: SettingsSchema as SchemaNode,
  right,
  check: problemsOf,
  mistakes: MISTAKES,
  secrets,
});

test('the document is right, and each mistake is one problem of it', () => {
  expect(falseMistakes(document())).toEqual([]);
});

const HONEST =
  'a wrong kind of value at any place hides and invents no other problem, shows no secret and throws nothing';

test(HONEST, () => expect(faultsOfKinds(document(), 17)).toEqual([]));
longTest(`${HONEST}, beside all mistakes`, async () => expect(faultsOfKinds(document())).toEqual([]));

test.each(['database', 'kafka', 'schemaRegistry'])(
  '%s.tls given as text shows neither the text nor a stack trace',
  (section) => {
    const pem = `Bag Attributes\n-----BEGIN PRIVATE KEY-----\n${SECRETS.wrong}\n-----END PRIVATE KEY-----\n`;
    writeFileSync(join(folder, 'application.yml'), JSON.stringify(replaced(right, [section, 'tls'], pem)));
    const decision = configure([], {}, folder);
    const { code, stderr } = { code: undefined, stderr: '', ...decision };
    expect(code).toBe(78);
    expect(stderr).toMatch(new RegExp(`: 1 problem; .*\\n\\n${section}[.]tls has the wrong type: "[*]{6}"`));
    expect(told(stderr, secrets)).toEqual([]);
  },
);
