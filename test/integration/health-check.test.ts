import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const SCRIPT = join(import.meta.dirname, '..', '..', 'build', 'app', 'health-check.js');

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
