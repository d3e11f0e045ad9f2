import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { generate } from 'selfsigned';
import { ClientCertificates, whyNotReplaced } from '../../../app/credentials/certificates-in-use.ts';
import { folderWith } from '../configuration/folder.ts';
import { settingsWith } from '../management/running-management.ts';
import type { TestCertificate } from '../management/test-certificate.ts';

const NOW = Math.trunc(Date.now() / 1_000) * 1_000;

const inDays = (days: number) => new Date(NOW + days * 86_400_000);

async function valid(from: number, until: number): Promise<TestCertificate> {
  const dates = { notBeforeDate: inDays(from), notAfterDate: inDays(until) };
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'client' }], { keyType: 'ec', ...dates });
  return { cert, key };
}

let good: TestCertificate;
let better: TestCertificate;
let expired: TestCertificate;
let future: TestCertificate;
let folder: string;
let lines: { readonly level: string; readonly fields: object }[];
let certificates: ClientCertificates;

beforeAll(async () => {
  [good, better, expired, future] = await Promise.all([valid(-1, 8), valid(-1, 90), valid(-9, -1), valid(1, 90)]);
});
beforeEach(() => {
  folder = folderWith({});
  lines = [];
  const told = (level: string) => (fields: object) => lines.push({ level, fields });
  certificates = new ClientCertificates({ info: told('info'), error: told('error') });
});

function mount({ cert, key }: TestCertificate): void {
  writeFileSync(join(folder, 'tls.crt'), cert);
  writeFileSync(join(folder, 'tls.key'), key);
}

const file = (name: string) => join(folder, name);

/** Settings whose database's URL names the files. */
function settings() {
  const query = new URLSearchParams({ sslmode: 'verify-full', sslcert: file('tls.crt'), sslkey: file('tls.key') });
  return settingsWith({}, { database: { url: `postgresql://db/orders?${query}` } });
}

const shown = () => (certificates.inlined(settings()).database as { tls?: object }).tls;

const pairOf = ({ cert, key }: TestCertificate) => ({ certificate: cert, privateKey: key });

describe('a client certificate', () => {
  test('is that of the files, with the time of its end, and a renewed one is told once', () => {
    mount(good);
    expect(shown()).toEqual(pairOf(good));
    expect(certificates.expiries).toEqual(new Map([['database', inDays(8)]]));
    mount(better);
    expect([shown(), shown()]).toEqual([pairOf(better), pairOf(better)]);
    expect(certificates.expiries).toEqual(new Map([['database', inDays(90)]]));
    const validTo = inDays(90).toISOString();
    expect(lines).toEqual([{ level: 'info', fields: { bundle: 'database', subject: 'CN=client', validTo } }]);
  });

  test.each([
    ['has expired', () => mount(expired), /^the certificate expired at /],
    ['is not valid yet', () => mount(future), /^the certificate is not valid before /],
    ['has the key of another', () => mount({ ...better, key: good.key }), /^the private key is that of another/],
    [
      'is no PEM',
      () => writeFileSync(file('tls.crt'), 'hunter2'),
      /^the setting of the certificate names a file that holds something else/,
    ],
  ])('stays where the new one %s, and one line says why', (_what, write, reason) => {
    mount(good);
    shown();
    write();
    expect([shown(), shown()]).toEqual([pairOf(good), pairOf(good)]);
    expect(certificates.expiries).toEqual(new Map([['database', inDays(8)]]));
    expect(lines).toEqual([{ level: 'error', fields: { bundle: 'database', reason: expect.stringMatching(reason) } }]);
    mount(better);
    expect(shown()).toEqual(pairOf(better));
  });

  test('may be the text itself, and another system has its own', () => {
    const { kafka, ...others } = settings();
    const { kafka: inlined } = certificates.inlined({ ...others, kafka: Object.assign({ tls: pairOf(good) }, kafka) });
    expect(inlined).toMatchObject({ tls: pairOf(good) });
    expect(certificates.expiries).toEqual(new Map([['kafka', inDays(8)]]));
  });

  test('that no setting names is none', () => {
    const plain = settingsWith({});
    expect(certificates.inlined(plain)).toEqual(plain);
    expect([...certificates.expiries]).toEqual([]);
  });

  test('that could not be read from the start is left to the connection, which says what is wrong', () => {
    expect(shown()).toBeUndefined();
    expect(lines).toEqual([]);
  });
});

test('of two certificates that are both not valid the newest is taken', () => {
  expect(whyNotReplaced(future.cert, expired.cert)).toBeUndefined();
  expect(whyNotReplaced(expired.cert, future.cert)).toBeUndefined();
});

test('an intermediate certificate that has expired counts as well', () => {
  expect(whyNotReplaced(`${better.cert}\n${expired.cert}`, good.cert)).toMatch(/^expired at /);
});
