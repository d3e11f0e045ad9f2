import { createPrivateKey } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { readCertificate, requireCertificate } from '../../../app/credentials/certificate.ts';
import {
  certificateFolder,
  certificateUntil,
  sslIn,
  type TestCertificate,
  testCertificate,
} from '../management/test-certificate.ts';

let one: TestCertificate;
let other: TestCertificate;
let folder: string;

beforeAll(async () => {
  [one, other] = await Promise.all([testCertificate('one'), testCertificate('other')]);
});
beforeEach(() => {
  folder = certificateFolder(one);
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a certificate with its key is right, and says whom it is for and until when', () => {
  const { certificate, problems } = readCertificate(sslIn(folder));
  expect(problems).toEqual([]);
  expect(certificate).toMatchObject({ ...one, subject: 'CN=one', validTo: expect.stringMatching(/^20\d\d-.*Z$/) });
});

test('a chain of certificates is right when the key belongs to its first', () => {
  writeFileSync(sslIn(folder).certificate, `${one.cert}\n${other.cert}`);
  expect(readCertificate(sslIn(folder)).problems).toEqual([]);
});

test('a chain expires with the first of its certificates', async () => {
  const [soon, later] = [new Date('2031-01-01T00:00:00Z'), new Date('2032-01-01T00:00:00Z')];
  const leaf = await certificateUntil(later, 'leaf');
  const intermediate = await certificateUntil(soon, 'intermediate');
  const own = sslIn(certificateFolder(leaf));
  expect(requireCertificate(own).expiresAt).toEqual(later);
  writeFileSync(own.certificate, `${leaf.cert}\n${intermediate.cert}`);
  expect(requireCertificate(own).expiresAt).toEqual(soon);
  rmSync(dirname(own.certificate), { recursive: true });
});

test('a chain that is broken behind its first certificate is a problem, not an error', () => {
  const ssl = sslIn(folder);
  writeFileSync(ssl.certificate, `${one.cert}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`);
  expect(readCertificate(ssl).problems).toMatchObject([{ path: 'server.ssl.certificate' }]);
});

test('files that are not there are named both at once, with their settings', () => {
  const ssl = { certificate: '/no/tls.crt', 'certificate-private-key': '/no/tls.key' };
  expect(readCertificate(ssl).problems).toMatchObject([
    { path: 'server.ssl.certificate', message: 'names a file that does not exist', given: '/no/tls.crt' },
    { path: 'server.ssl.certificate-private-key', message: 'names a file that does not exist', given: '/no/tls.key' },
  ]);
  expect(() => requireCertificate(ssl)).toThrow(/certificate-private-key names a file that does not exist/);
});

const encrypted = ({ key }: TestCertificate) =>
  createPrivateKey(key).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString();

test.each<[string, 'certificate' | 'certificate-private-key', () => string, string]>([
  ['a certificate that is none', 'certificate', () => 'hello', 'holds something else'],
  ['a key in place of the certificate', 'certificate', () => one.key, 'holds something else'],
  ['an empty key', 'certificate-private-key', () => '', 'holds something else'],
  ['an encrypted key', 'certificate-private-key', () => encrypted(one), 'holds something else'],
  ['the key of another certificate', 'certificate-private-key', () => other.key, 'names a key of another certificate'],
])('%s is a problem that says so and shows no key', (_what, setting, content, message) => {
  writeFileSync(sslIn(folder)[setting], content());
  const { problems } = readCertificate(sslIn(folder));
  expect(problems).toMatchObject([{ path: `server.ssl.${setting}`, message: expect.stringContaining(message) }]);
  expect(JSON.stringify(problems)).not.toContain('PRIVATE KEY-----\\n');
});
