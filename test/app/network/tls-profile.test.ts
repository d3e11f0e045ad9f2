import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls, { connect, createServer, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';
import { generate } from 'selfsigned';
import { requireCertificate } from '../../../app/credentials/certificate.ts';
import { CertificateRenewal } from '../../../app/credentials/certificates-in-use.ts';
import { useModernTls } from '../../../app/network/tls-profile.ts';
import { managementOptions, type RunningManagement, startManagement } from '../management/running-management.ts';
import { certificateFolder, sslIn, type TestCertificate } from '../management/test-certificate.ts';

const { DEFAULT_CIPHERS, DEFAULT_MIN_VERSION } = tls;

let rsa: TestCertificate;
let running: RunningManagement | undefined;

beforeAll(async () => {
  const extensions = [{ name: 'subjectAltName' as const, altNames: [{ type: 2 as const, value: 'localhost' }] }];
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'rsa' }], { keySize: 2048, extensions });
  rsa = { cert, key };
  useModernTls();
});
afterEach(async () => {
  await running?.management.stop();
  running = undefined;
});
afterAll(() => {
  Object.assign(tls, { DEFAULT_CIPHERS, DEFAULT_MIN_VERSION });
});

/** A client that would take any suite and version that it is told to. */
async function handshake(port: number, options: Pick<tls.ConnectionOptions, 'ciphers' | 'minVersion' | 'maxVersion'>) {
  const socket: TLSSocket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  try {
    await once(socket, 'secureConnect');
    return { protocol: socket.getProtocol(), suite: socket.getCipher().name };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  } finally {
    socket.destroy();
  }
}

const V12 = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;

const REFUSED = [
  ['CBC', { ...V12, ciphers: 'ECDHE-RSA-AES128-SHA256' }],
  ['CBC with SHA-1', { ...V12, ciphers: 'ECDHE-RSA-AES256-SHA' }],
  ['a key exchange by static RSA', { ...V12, ciphers: 'AES128-GCM-SHA256' }],
  ['static RSA and CBC', { ...V12, ciphers: 'AES256-SHA' }],
  ['TLS 1.1', { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }],
] as const;

describe('the HTTP interface', () => {
  async function start(): Promise<number> {
    const { settings } = managementOptions();
    const ssl = sslIn(certificateFolder(rsa));
    running = await startManagement({ settings: { ...settings, server: { ...settings.server, ssl } } });
    return running.address.port;
  }

  test.each(REFUSED)('refuses %s', async (_what, options) => {
    expect(await handshake(await start(), options)).toMatch(/^ERR_SSL_.*ALERT/);
  });

  test('takes TLS 1.3, and forward secrecy with authenticated encryption in TLS 1.2', async () => {
    const port = await start();
    expect(await handshake(port, {})).toMatchObject({ protocol: 'TLSv1.3' });
    for (const suite of ['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-CHACHA20-POLY1305']) {
      expect(await handshake(port, { ...V12, ciphers: suite })).toEqual({ protocol: 'TLSv1.2', suite });
    }
  });

  test('refuses the same with a certificate that was renewed', async () => {
    const port = await start();
    const files = sslIn(certificateFolder(rsa));
    const renewed = requireCertificate(files);
    const current = { ...renewed, cert: `${renewed.cert}\n` };
    new CertificateRenewal(running?.app.server as unknown as tls.Server, files, current, {
      info: () => undefined,
      error: () => undefined,
    }).renew();
    expect(await handshake(port, { ...V12, ciphers: 'AES128-GCM-SHA256' })).toMatch(/^ERR_SSL_.*ALERT/);
    expect(await handshake(port, {})).toMatchObject({ protocol: 'TLSv1.3' });
  });
});

describe('with a server that speaks CBC and static RSA alone, no TLS comes about for', () => {
  async function refusalOf(ask: (port: number) => Promise<unknown>): Promise<unknown> {
    const server = createServer({ ...rsa, ...V12, ciphers: 'AES256-SHA:ECDHE-RSA-AES256-SHA' });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.on('secureConnection', (socket) => socket.destroy());
    const refused = once(server, 'tlsClientError').then(([{ code }]) => String(code));
    const agreed = once(server, 'secureConnection').then(() => 'they agreed');
    const asked = ask((server.address() as AddressInfo).port).then(
      () => 'answered',
      () => 'failed',
    );
    const end = await Promise.race([refused, agreed]);
    const outcome = await asked;
    server.close();
    return [outcome, end];
  }

  const NO_SUITE = ['failed', 'ERR_SSL_NO_SHARED_CIPHER'];

  test("Kafka's client", async () => {
    const ask = async (port: number) => {
      const ssl = { rejectUnauthorized: false };
      const kafka = new Kafka({
        brokers: [`127.0.0.1:${port}`],
        ssl,
        logLevel: logLevel.NOTHING,
        retry: { retries: 0 },
      });
      await kafka.admin().connect();
    };
    expect(await refusalOf(ask)).toEqual(NO_SUITE);
  });

  test("PostgreSQL's client", async () => {
    const ask = async (port: number) => {
      const ssl = { rejectUnauthorized: false };
      await new pg.Client({ host: '127.0.0.1', port, ssl, sslnegotiation: 'direct', user: 'u' }).connect();
    };
    expect(await refusalOf(ask)).toEqual(NO_SUITE);
  });

  test('a request to another server', async () => {
    expect(await refusalOf((port) => fetch(`https://127.0.0.1:${port}/`))).toEqual(NO_SUITE);
  });
});
