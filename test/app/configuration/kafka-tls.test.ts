import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { configure } from '../../../app/commands/configure.ts';
import { type TestCertificate, testCertificate } from '../management/test-certificate.ts';
import { folderWith } from './folder.ts';

let made: TestCertificate;
let other: TestCertificate;
let folder: string;

beforeAll(async () => {
  [made, other] = await Promise.all([testCertificate('client'), testCertificate('another')]);
  folder = folderWith({ 'ca.crt': other.cert, 'tls.crt': made.cert, 'tls.key': made.key, 'text.txt': 'hello' });
});

const file = (name: string): string => join(folder, name);

/** What `--check` says with these settings of Kafka, by their environment names. */
function checked(settings: Readonly<Record<string, string>>) {
  const required = { KAFKA_BROKERS: 'b:1', KAFKA_TOPICS: 't', KAFKA_GROUP_ID: 'g', DATABASE_URL: 'postgresql://h/d' };
  const decision = configure(['--check'], { ...required, ...settings }, folder);
  return decision.kind === 'exit' ? { stdout: '', stderr: '', ...decision } : { stdout: '', stderr: '', code: -1 };
}

const TLS = { KAFKA_SSL: 'true' };

test('paths of PEM files and PEM itself are taken, and the private key is not shown', () => {
  const files = {
    KAFKA_TLS_CA: file('ca.crt'),
    KAFKA_TLS_CERTIFICATE: file('tls.crt'),
    KAFKA_TLS_PRIVATE_KEY: file('tls.key'),
  };
  expect(checked({ ...TLS, ...files })).toMatchObject({ code: 0, stderr: '' });
  const texts = { KAFKA_TLS_CA: other.cert, KAFKA_TLS_CERTIFICATE: made.cert, KAFKA_TLS_PRIVATE_KEY: made.key };
  const { code, stdout, stderr } = checked({ ...TLS, ...texts });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('privateKey: "******"');
  expect(stdout).not.toContain(made.key.split('\n')[1]);
});

test('all that is wrong with the files is told at once', () => {
  const { code, stderr } = checked({
    ...TLS,
    KAFKA_TLS_CA: '/no/ca.crt',
    KAFKA_TLS_CERTIFICATE: file('text.txt'),
    KAFKA_TLS_PRIVATE_KEY: file('tls.crt'),
    KAFKA_TLS_SERVER_NAME: '127.0.0.1',
  });
  expect(code).toBe(78);
  expect(stderr).toContain('4 problems; nothing was started.');
  expect(stderr).toContain('kafka.tls.serverName is not well-formed: "127.0.0.1"');
  expect(stderr).toContain('kafka.tls.ca names a file that does not exist: "/no/ca.crt"');
  expect(stderr).toContain('kafka.tls.certificate names a file that holds something else');
  expect(stderr).toContain('kafka.tls.privateKey names a file that holds something else');
});

test('the key of another certificate is a problem', () => {
  const { stderr } = checked({ ...TLS, KAFKA_TLS_CERTIFICATE: file('ca.crt'), KAFKA_TLS_PRIVATE_KEY: file('tls.key') });
  expect(stderr).toContain('kafka.tls.privateKey is the key of another certificate');
});

test('a certificate without its key, a key without its certificate and TLS options without TLS are problems', () => {
  expect(checked({ ...TLS, KAFKA_TLS_CERTIFICATE: file('tls.crt') }).stderr).toContain(
    'kafka.tls.privateKey is missing',
  );
  expect(checked({ ...TLS, KAFKA_TLS_PRIVATE_KEY: file('tls.key') }).stderr).toContain(
    'kafka.tls.certificate is missing',
  );
  expect(checked({ KAFKA_TLS_CA: file('ca.crt') }).stderr).toContain(
    'kafka.tls is set, but the connections to the brokers are not encrypted',
  );
});

test('a password or a token in clear text, and certificates for any host, are right with a warning', () => {
  const plain = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' };
  expect(checked(plain)).toMatchObject({ code: 0, stderr: expect.stringMatching(/^warning: .*in clear text/) });
  expect(checked({ ...plain, ...TLS })).toMatchObject({ code: 0, stderr: '' });
  expect(checked({ ...plain, KAFKA_SASL_MECHANISM: 'scram-sha-256' })).toMatchObject({ code: 0, stderr: '' });
  const token = { KAFKA_SASL_MECHANISM: 'oauthbearer', KAFKA_SASL_OAUTH_TOKEN_FILE: '/token' };
  expect(checked(token)).toMatchObject({ code: 0, stderr: expect.stringMatching(/^warning: .*in clear text/) });
  expect(checked({ ...token, ...TLS })).toMatchObject({ code: 0, stderr: '' });
  const anyHost = checked({ ...TLS, KAFKA_TLS_VERIFY_HOST_NAME: 'false' });
  expect(anyHost).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^warning: kafka.tls.verifyHostName is false/),
  });
});
