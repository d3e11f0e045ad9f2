import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { configure } from '../../../app/commands/configure.ts';
import { type TestCertificate, testCertificate } from '../management/test-certificate.ts';
import { folderWith } from './folder.ts';

const ENV = { KAFKA_BROKERS: 'b:1', KAFKA_TOPICS: 't', KAFKA_GROUP_ID: 'g' };

let made: TestCertificate;
let folder: string;

beforeAll(async () => {
  made = await testCertificate('database');
  folder = folderWith({ 'ca.crt': made.cert, 'tls.key': made.key, 'text.txt': 'hello' });
});

const file = (name: string) => join(folder, name);

const url = (parameters: Readonly<Record<string, string>>) =>
  `postgresql://u:hunter2@h/d?${new URLSearchParams({ sslmode: 'verify-full', ...parameters })}`;

function configured(argv: readonly string[], parameters: Readonly<Record<string, string>>, env = {}) {
  const decision = configure(argv, { ...ENV, DATABASE_URL: url(parameters), ...env }, folder);
  return decision.kind === 'exit' ? { stderr: '', ...decision } : { ...decision, code: -1, stderr: '' };
}

const COMMANDS = [
  [],
  ['--check'],
  ['migrate'],
  ['dead-letters', 'list'],
  ['offsets', 'accept-topic', 'orders'],
  ['tables', 'check'],
  ['tables', 'dry-run'],
] as const;

describe.each(COMMANDS.map((argv) => [argv]))('with the arguments %j', (argv) => {
  test.each(['sslrootcert', 'sslcert', 'sslkey'])('a file that the database URL names by %s has to exist', (name) => {
    const { code, stderr } = configured(argv, { [name]: '/no/hunter2.pem' });
    expect(code).toBe(78);
    expect(stderr).toContain('1 problem; nothing was started.');
    expect(stderr).toContain(
      `database.url names by ${name} a file that does not exist (environment variable DATABASE_URL)\n  allowed: a PEM file`,
    );
    expect(stderr).not.toContain('hunter2');
  });

  test('files that are there are no problem', () => {
    const files = { sslrootcert: file('ca.crt'), sslcert: file('ca.crt'), sslkey: file('tls.key') };
    expect(configured(argv, files).stderr).toBe('');
  });
});

test('all of it is reported at once, with what else is wrong', () => {
  const env = {
    SERVER_SSL_CERTIFICATE: '/no/tls.crt',
    SERVER_SSL_CERTIFICATE_PRIVATE_KEY: '/no/tls.key',
    DATABASE_POOL_SIZE: '0',
    SHUTDOWN_TIMEOUT: '0s',
  };
  const parameters = { sslrootcert: '/no/ca.crt', sslcert: '/no/tls.crt', sslkey: '/no/tls.key', sslmod: 'x' };
  const { code, stderr } = configured(['--check'], parameters, env);
  expect(code).toBe(78);
  expect(stderr).toContain('8 problems; nothing was started.');
  for (const path of ['server.ssl.certificate ', 'database.poolSize ', 'shutdown.timeout ', 'parameter sslmod ']) {
    expect(stderr).toContain(path);
  }
});

test.each([
  ['sslrootcert', 'text.txt', 'holds something else'],
  ['sslrootcert', 'tls.key', 'holds something else'],
  ['sslcert', 'text.txt', 'holds something else'],
  ['sslkey', 'ca.crt', 'holds something else'],
  ['sslrootcert', '.', 'is a folder'],
])('%s has to be what it is for: %s', (name, place, reason) => {
  const { code, stderr } = configured(['--check'], { [name]: file(place) });
  expect(code).toBe(78);
  expect(stderr).toContain(`database.url names by ${name} a file that ${reason}`);
});

test('a key that stands in the URL itself is not shown', () => {
  const { code, stderr } = configured(['--check'], { sslkey: made.key });
  expect(code).toBe(78);
  expect(stderr).not.toContain('PRIVATE KEY-----');
  expect(stderr).not.toContain(made.key.split('\n')[1]);
});

test("commands that ask PostgreSQL alone do without the HTTP interface's certificate", () => {
  const env = { SERVER_SSL_CERTIFICATE: '/no/tls.crt', SERVER_SSL_CERTIFICATE_PRIVATE_KEY: '/no/tls.key' };
  expect(configured(['dead-letters', 'list'], {}, env).stderr).toBe('');
  expect(configured(['offsets', 'accept-topic', 'orders'], {}, env).stderr).toBe('');
  expect(configured(['tables', 'check'], {}, env).stderr).toBe('');
  expect(configured(['migrate'], {}, env).code).toBe(78);
});
