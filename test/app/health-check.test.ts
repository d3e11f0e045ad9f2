import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { containerHealth, localHealthUrl, optionsOfProcess } from '../../app/health-check.ts';
import { managementEndpoint } from '../../contract/actuator.ts';
import { exampleConsumer } from '../charts/example-consumer.ts';

const HANGING = 'hang';
const asked: string[] = [];
let server: Server;
let answer: number | typeof HANGING = 200;

const environment = (port: number): Record<string, string> => ({
  SERVER_PORT: String(port),
  KAFKA_BROKERS: 'kafka:9092',
  KAFKA_TOPICS: 'orders',
  KAFKA_GROUP_ID: 'g',
  DATABASE_URL: 'postgresql://user:hunter2@db/x',
});

const port = (): number => (server.address() as AddressInfo).port;
const check = (env = environment(port()), timeoutMs?: number) =>
  containerHealth({ env, cwd: '/nonexistent' }, undefined, timeoutMs);

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (answer !== HANGING) {
      response.writeHead(answer).end('{}');
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

test('success is healthy; it asks the health of the contract at the configured port', async () => {
  answer = 200;
  await expect(check()).resolves.toMatchObject({ isHealthy: true });
  const { healthPath } = managementEndpoint(exampleConsumer().settings);
  expect(asked.at(-1)).toBe(`GET ${healthPath}`);
});

test.each([503, 500, 404])('status %i is not', async (status) => {
  answer = status;
  const { isHealthy, message } = await check();
  expect(isHealthy).toBe(false);
  expect(message).toContain(`answered ${status}`);
});

test('an answer that does not come is not, and says so', async () => {
  answer = HANGING;
  const { isHealthy, message } = await check(environment(port()), 50);
  expect(isHealthy).toBe(false);
  expect(message).toContain('did not answer');
});

test('nobody at the port is not, and says so', async () => {
  const unused = createServer();
  await new Promise<void>((done) => unused.listen(0, '127.0.0.1', done));
  const { port: closed } = unused.address() as AddressInfo;
  await new Promise((done) => unused.close(done));
  const { isHealthy, message } = await check(environment(closed));
  expect(isHealthy).toBe(false);
  expect(message).toContain('ECONNREFUSED');
});

test('a wrong configuration is not, and no secret is told', async () => {
  const { isHealthy, message } = await check({ ...environment(port()), KAFKA_BROKERS: 'nonsense' });
  expect(isHealthy).toBe(false);
  expect(message).toContain('kafka.brokers[0]');
  expect(message).not.toContain('hunter2');
});

test('a port that is chosen at the start is not', async () => {
  const { isHealthy, message } = await check(environment(0));
  expect(isHealthy).toBe(false);
  expect(message).toContain('server.port is 0');
});

test.each([
  ['0.0.0.0', 'http://127.0.0.1:8080/actuator/health'],
  ['::', 'http://[::1]:8080/actuator/health'],
  ['10.1.2.3', 'http://10.1.2.3:8080/actuator/health'],
  ['fd00::1', 'http://[fd00::1]:8080/actuator/health'],
])('a server at %s is asked at %s', (address, url) => {
  const { settings } = exampleConsumer({ application: { server: { port: 8080 } } });
  expect(localHealthUrl({ ...managementEndpoint(settings), address })).toBe(url);
});

const commandLine = (...words: readonly string[]): string => words.map((word) => `${word}\0`).join('');

test.each([
  ['the consumer', ['node', 'build/app/main.js']],
  ['an init before it', ['/dev/init', '--', 'node', '/app/build/app/main.js']],
])('the options of %s are found', (_name, words) => {
  expect(optionsOfProcess(commandLine(...words, '--config', '/a b.yml', '--config-tree=/secrets'))).toEqual({
    configFile: '/a b.yml',
    configTree: '/secrets',
  });
  expect(optionsOfProcess(commandLine(...words))).toEqual({ configFile: undefined, configTree: undefined });
});

test.each([
  ['another program', commandLine('/pause', '--config', '/other.yml')],
  ['nothing', ''],
])('%s has none', (_name, text) => {
  expect(optionsOfProcess(text)).toEqual({ configFile: undefined, configTree: undefined });
});
