import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type Server } from 'node:tls';
import { afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { requireCertificate } from '../../../app/credentials/certificate.ts';
import { CertificateRenewal } from '../../../app/credentials/certificates-in-use.ts';
import { managementOptions, type RunningManagement, startManagement } from '../management/running-management.ts';
import { certificateUntil, sslIn, type TestCertificate, testCertificate } from '../management/test-certificate.ts';

let first: TestCertificate;
let second: TestCertificate;
let folder: string;
let running: RunningManagement | undefined;

beforeAll(async () => {
  [first, second] = await Promise.all([testCertificate('first'), testCertificate('second')]);
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stream-consumer-tls-'));
});
afterEach(async () => {
  await running?.management.stop();
  running = undefined;
  rmSync(folder, { recursive: true });
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

/** Writes the files as the kubelet does: a new folder, and a symbolic link to it that is replaced atomically. */
function mount({ cert, key }: TestCertificate, name: string): void {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, 'tls.crt'), cert);
  writeFileSync(join(folder, name, 'tls.key'), key);
  symlinkSync(name, join(folder, 'next'));
  renameSync(join(folder, 'next'), join(folder, '..data'));
}

const mounted = () => sslIn(join(folder, '..data'));

async function startWithTls() {
  mount(first, 'one');
  const lines: Record<string, unknown>[] = [];
  const { settings } = managementOptions();
  const server = { ...settings.server, ssl: mounted() };
  running = await startManagement({
    settings: { ...settings, server },
    logDestination: { write: (line) => lines.push(JSON.parse(line)) },
  });
  const { app, address } = running;
  const renewal = new CertificateRenewal(
    app.server as unknown as Server,
    mounted(),
    requireCertificate(mounted()),
    app.log,
  );
  return { port: address.port, lines, renewal };
}

/** The common name of the server's certificate, for a client that trusts both certificates. */
function shownBy(port: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ca: [first.cert, second.cert] }, () => {
      resolve(socket.getPeerCertificate().subject.CN);
      socket.end();
    });
    socket.on('error', reject);
  });
}

test('a certificate that was exchanged is shown to the next connection, and logged without its key', async () => {
  const { port, lines, renewal } = await startWithTls();
  expect(await shownBy(port)).toBe('first');
  mount(second, 'two');
  renewal.renew();
  expect(await shownBy(port)).toBe('second');
  expect(lines.map(({ msg, subject }) => [msg, subject])).toEqual([
    ['TLS certificate', 'CN=first'],
    ['TLS certificate renewed', 'CN=second'],
  ]);
  expect(JSON.stringify(lines)).not.toContain('PRIVATE KEY');
});

test('a new file that is broken keeps the old certificate and is logged once, and a mended one is taken', async () => {
  const { port, lines, renewal } = await startWithTls();
  mount({ ...second, key: first.key }, 'two');
  renewal.renew();
  renewal.renew();
  expect(await shownBy(port)).toBe('first');
  expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
    { reason: expect.stringContaining('server.ssl.certificate-private-key names a key of another certificate') },
  ]);
  rmSync(join(folder, '..data'));
  renewal.renew();
  expect(await shownBy(port)).toBe('first');
  mount(second, 'three');
  renewal.renew();
  expect(await shownBy(port)).toBe('second');
});

test('a new certificate that has expired does not replace a valid one, and is logged once', async () => {
  const { port, lines, renewal } = await startWithTls();
  mount(await certificateUntil(inDays(-1), 'second'), 'two');
  renewal.renew();
  renewal.renew();
  expect(await shownBy(port)).toBe('first');
  expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
    { reason: expect.stringContaining('the certificate expired at ') },
  ]);
});

/** Days until the certificate in use expires, as a scrape has it. */
async function scrapedDays({ app }: RunningManagement): Promise<number | undefined> {
  const { body } = await app.inject({ url: '/actuator/prometheus' });
  const [, seconds] = /^ssl_chain_expiry_seconds\{.*bundle="server".*\} (\S+)$/m.exec(body) ?? [];
  return seconds === undefined ? undefined : Number(seconds) / 86_400;
}

test('the metric has the days of the certificate in use, and of a new one once it is taken', async () => {
  [first, second] = await Promise.all([certificateUntil(inDays(8), 'first'), certificateUntil(inDays(90), 'second')]);
  const { renewal } = await startWithTls();
  expect(running && (await scrapedDays(running))).toBeCloseTo(8, 2);
  mount({ ...second, key: first.key }, 'two');
  renewal.renew();
  expect(renewal.expiresAt).toEqual(requireCertificate(sslIn(join(folder, 'one'))).expiresAt);
  mount(second, 'three');
  renewal.renew();
  expect(renewal.expiresAt.getTime()).toBeGreaterThan(inDays(89).getTime());
});

test("the client's certificates have the metric as well, by the system that they are shown to", async () => {
  running = await startManagement({ clientCertificates: () => new Map([['kafka', inDays(3)]]) });
  const { body } = await running.app.inject({ url: '/actuator/prometheus' });
  const [, seconds] = /^ssl_chain_expiry_seconds\{.*bundle="kafka"\} (\S+)$/m.exec(body) ?? [];
  expect(Number(seconds) / 86_400).toBeCloseTo(3, 2);
});

test('without TLS there is no such metric', async () => {
  running = await startManagement();
  expect(await scrapedDays(running)).toBeUndefined();
});

test('the files are looked at every 10 s until the end', () => {
  jest.useFakeTimers();
  try {
    mount(first, 'one');
    const server = createServer();
    const contexts: unknown[] = [];
    server.setSecureContext = (context) => contexts.push(context);
    const log = { info: () => undefined, error: () => undefined };
    const renewal = new CertificateRenewal(server, mounted(), requireCertificate(mounted()), log);
    renewal.start();
    mount(second, 'two');
    jest.advanceTimersByTime(9_999);
    expect(contexts).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(contexts).toEqual([second]);
    renewal.stop();
    mount(first, 'three');
    jest.advanceTimersByTime(60_000);
    expect(contexts).toHaveLength(1);
  } finally {
    jest.useRealTimers();
  }
});
