import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

const NOWHERE = '127.0.0.1:1';
/** One connection, which is there before the files are used up. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

afterEach(() => agent.destroy());

async function health({ port, endpoint }: StartedConsumer): Promise<string> {
  const [answer] = (await once(get({ agent, port, path: endpoint.healthPath }), 'response')) as [IncomingMessage];
  return text(answer);
}

/** Leaves the process no file more than it has open. */
const useUpFiles = ({ pid }: StartedConsumer) => execFileSync('prlimit', ['--pid', String(pid), '--nofile=8:8']);

const ADVICE = /has as many files and connections open as it may \(300 when it started\): raise the limit \(ulimit -n/;

test.each([
  ['PostgreSQL', 'db', { databaseUrl: `postgresql://u:p@${NOWHERE}/d` }],
  ['Kafka', 'kafka', { brokers: [NOWHERE] }],
])('a connection to %s that takes one file too many is told with what to do', async (name, component, away) => {
  const consumer = await startConsumer({ topics: ['orders'], ...away, shell: 'ulimit -n 300; exec "$@"' });
  await consumer.logs.waitFor(new RegExp(`waiting for ${name}`));
  await health(consumer);
  useUpFiles(consumer);
  const line = await consumer.logs.waitFor(/"(?:warn|error)".*EMFILE/);
  expect(line).toMatch(ADVICE);
  const shown = await until('the error in the health', async () => {
    const { components } = JSON.parse(await health(consumer));
    const error: string = components[component].details.error;
    return error.includes('EMFILE') ? error : undefined;
  });
  expect(shown).toMatch(ADVICE);
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
});

test('HTTP clients, however many, leave files for PostgreSQL and Kafka', async () => {
  const topic = await createTopic();
  const consumer = await startConsumer({ topics: [topic], shell: 'ulimit -n 200; exec "$@"' });
  await consumer.waitForHealth();
  const sockets = Array.from({ length: 300 }, () => connect(consumer.port, '127.0.0.1').on('error', () => undefined));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const open = () => sockets.filter(({ closed }) => !closed).length;
  await until('clients that were turned away', async () => (open() <= 100 ? true : undefined));
  await produce(topic, [{ value: '1' }]);
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  expect(open()).toBeLessThanOrEqual(100);
  expect(consumer.logs.all.filter((line) => line.includes('EMFILE'))).toEqual([]);
  for (const socket of sockets) socket.destroy();
});
