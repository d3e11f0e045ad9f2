import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { configure } from '../../../app/commands/configure.ts';
import { folderWith } from '../configuration/folder.ts';
import { type TestCertificate, testCertificate } from '../management/test-certificate.ts';

let made: TestCertificate;
let other: TestCertificate;
let folder: string;

beforeAll(async () => {
  [made, other] = await Promise.all([testCertificate('database'), testCertificate('another')]);
  folder = folderWith({ 'ca.crt': made.cert, 'tls.key': made.key, 'other.key': other.key, 'text.txt': 'hello' });
});

/** What is said of `database.tls` with these values; of a name with a dot, the file. */
function problems(tls: Readonly<Record<string, string>>, parameters = ''): string {
  const env = Object.fromEntries(
    Object.entries(tls).map(([name, value]) => [
      `DATABASE_TLS_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`,
      value.includes('BEGIN') || value.startsWith('/') ? value : join(folder, value),
    ]),
  );
  const required = { KAFKA_BROKERS: 'b:1', KAFKA_TOPICS: 't', KAFKA_GROUP_ID: 'g' };
  const decision = configure(
    ['--check'],
    { ...required, DATABASE_URL: `postgresql://h/d${parameters}`, ...env },
    folder,
  );
  return decision.kind === 'exit' ? (decision.stderr ?? '') : '';
}

const RIGHT = { ca: 'ca.crt', certificate: 'ca.crt', privateKey: 'tls.key' };

test('paths of PEM files and PEM itself are taken, and the key is not shown', () => {
  expect(problems(RIGHT)).toBe('');
  expect(problems({ ca: made.cert, certificate: made.cert, privateKey: made.key })).toBe('');
  expect(problems({ ca: `${other.cert}\n${made.cert}` })).toBe('');
});

test('all that is wrong is reported at once', () => {
  const said = problems({ ca: '/no/ca.crt', certificate: 'text.txt', privateKey: 'ca.crt' });
  expect(said).toContain('3 problems; nothing was started.');
  expect(said).toContain('database.tls.ca names a file that does not exist: "/no/ca.crt"');
  expect(said).toContain('database.tls.certificate names a file that holds something else');
  expect(said).toContain('database.tls.privateKey names a file that holds something else');
});

test('a bundle of which one certificate is damaged is no bundle', () => {
  const damaged = other.cert.replace(/\n(.{10})/, '\nAAAAAAAAAA');
  expect(problems({ ca: `${made.cert}\n${damaged}` })).toContain('database.tls.ca is not the PEM that belongs there');
});

test('the key of another certificate is told, in the URL, too', () => {
  expect(problems({ ...RIGHT, privateKey: 'other.key' })).toContain('database.tls.privateKey is the key of another');
  const files = `?sslcert=${join(folder, 'ca.crt')}&sslkey=${join(folder, 'other.key')}`;
  expect(problems({}, files)).toContain('database.url names by sslkey the key of another certificate');
});

test.each([
  [{ certificate: 'ca.crt' }, '', 'database.tls.certificate has no database.tls.privateKey beside it'],
  [{ privateKey: 'tls.key' }, '', 'database.tls.privateKey has no database.tls.certificate beside it'],
  [{ ca: 'ca.crt' }, '?sslmode=disable', 'database.url asks for no TLS beside database.tls'],
  [{ ca: 'ca.crt' }, '?ssl=0', 'database.url asks for no TLS beside database.tls'],
  [{ ca: 'ca.crt' }, '?sslmode=no-verify', 'database.url has sslmode=no-verify beside database.tls.ca'],
])('what contradicts is a problem: %j beside the URL with "%s"', (tls, parameters, said) => {
  expect(problems(tls, parameters)).toContain(said);
});

test('sslmode=verify-ca of libpq takes its authority from database.tls', () => {
  const parameters = '?sslmode=verify-ca&uselibpqcompat=true';
  expect(problems({ ca: 'ca.crt' }, parameters)).toBe('');
  expect(problems({}, parameters)).toContain('sslmode=verify-ca and no sslrootcert');
});

test('a private key at the place of a path is not shown', () => {
  const said = problems({ ca: made.key, certificate: 'ca.crt', privateKey: 'text.txt' });
  expect(said).toContain('database.tls.ca is not the PEM');
  expect(said).not.toContain(made.key.split('\n')[1]);
});
