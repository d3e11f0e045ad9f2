import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { expect, test } from '@jest/globals';
import { certificateFolder, certificateUntil, sslIn } from '../../app/management/test-certificate.ts';
import { createTopic } from '../stack/kafka-client.ts';
import { runbookCommand } from '../stack/runbook.ts';
import { startConsumer } from '../stack/start-consumer.ts';

const BLOCKED_MS = 2_000;
const DAY_MS = 86_400_000;

test('a process that does nothing for two seconds: EventLoopBlocked shows for how long', async () => {
  const consumer = await startConsumer({ topics: [await createTopic()] });
  await consumer.waitForHealth();
  consumer.kill('SIGSTOP');
  await delay(BLOCKED_MS);
  consumer.kill('SIGCONT');
  const printed = await runbookCommand('EventLoopBlocked', { consumer });
  expect(printed).toContain('pod/orders-consumer-0');
  expect(Number(/^nodejs_eventloop_lag_max_seconds\{.*\} (\S+)$/m.exec(printed)?.[1])).toBeGreaterThan(1);
});

/** The version that is agreed on with this suite of TLS 1.2, or why there is none. */
async function handshake(port: number, ciphers: string): Promise<string | null | undefined> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion: 'TLSv1.2', ciphers });
  try {
    await once(socket, 'secureConnect');
    return socket.getProtocol();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  } finally {
    socket.destroy();
  }
}

test('a certificate of two days: CertificateExpires shows until when it is, in the log and by each Pod', async () => {
  const expires = new Date(Math.trunc((Date.now() + 2 * DAY_MS) / 1_000) * 1_000);
  const ssl = sslIn(certificateFolder(await certificateUntil(expires, 'consumer')));
  const consumer = await startConsumer({ topics: [await createTopic()], settings: { server: { ssl } } });
  await consumer.logs.waitFor(/"assigned"/);
  expect(await runbookCommand('CertificateExpires', { consumer })).toContain(`"validTo":"${expires.toISOString()}"`);
  const printed = await runbookCommand('CertificateExpires', { consumer }, 'ask');
  const seconds = Number(/^ssl_chain_expiry_seconds\{.*\} (\S+)$/m.exec(printed)?.[1]);
  expect(Math.round((seconds * 1_000) / DAY_MS)).toBe(2);
  expect(await handshake(consumer.port, 'ECDHE-ECDSA-AES128-SHA256')).toMatch(/^ERR_SSL_/);
  expect(await handshake(consumer.port, 'ECDHE-ECDSA-AES128-GCM-SHA256')).toBe('TLSv1.2');
});
