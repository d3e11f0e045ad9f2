import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { COMPILED_PROGRAMS } from '../../../dev/run/consumer-process.ts';
import { freePort } from '../../../dev/run/free-port.ts';
import { certificateFolder, sslIn, testCertificate } from '../../app/management/test-certificate.ts';
import { createTopic } from '../stack/kafka-client.ts';
import { someCases } from '../stack/long-test.ts';
import { startConsumer } from '../stack/start-consumer.ts';

const SCRIPT = join(COMPILED_PROGRAMS, 'health-check.js');

/** The compiled script, as the image runs it, beside a server that gives this answer. */
async function runBeside(status: number) {
  const server = createServer((_request, response) => response.writeHead(status).end('{}'));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const env = {
    SERVER_PORT: String(port),
    KAFKA_BROKERS: 'kafka:9092',
    KAFKA_TOPICS: 'orders',
    KAFKA_GROUP_ID: 'g',
    DATABASE_URL: 'postgresql://db/x',
  };
  const ended = await new Promise<{ code: number | null; stdout: string }>((done) => {
    const child = execFile(process.execPath, [SCRIPT], { env }, (_error, stdout) =>
      done({ code: child.exitCode, stdout }),
    );
  });
  server.close();
  return { ...ended, stdout: ended.stdout.replace(String(port), 'PORT') };
}

test.each([
  [200, 0],
  [503, 1],
])('the script of the HEALTHCHECK makes of status %i the exit code %i, and says what it saw', async (status, code) => {
  const stdout = `http://127.0.0.1:PORT/actuator/health answered ${status}\n`;
  expect(await runBeside(status)).toEqual({ code, stdout });
});

/** What the script prints for a path, of a consumer with these sections in its configuration. */
async function askedFor(path: string, management: Readonly<Record<string, unknown>>) {
  const port = await freePort();
  const consumer = await startConsumer({
    topics: [await createTopic()],
    port,
    settings: { management, server: { ssl: sslIn(certificateFolder(await testCertificate('consumer'))) } },
  });
  await consumer.logs.waitFor(/"assigned"/);
  const env = { CONFIG_FILE: consumer.configFile, SERVER_PORT: String(port) };
  return promisify(execFile)(process.execPath, [SCRIPT, path], { env });
}

test.each(
  someCases<[string, object]>(1, [
    ['a token', { token: 'b-7f3a' }],
    ['user and password', { username: 'ops', password: 'hunter2' }],
  ]),
)(
  'with a path it prints what the consumer answers there: over TLS, at another base path, with %s',
  async (_name, security) => {
    const web = { 'base-path': '/ops' };
    const { stdout } = await askedFor('health/db', { security, endpoints: { web } });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'UP', details: { database: 'PostgreSQL' } });
  },
);
