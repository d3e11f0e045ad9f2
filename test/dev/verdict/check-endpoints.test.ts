import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { managementEndpoint } from '../../../contract/actuator.ts';
import { checkEndpoints } from '../../../dev/verdict/check-endpoints.ts';
import { exampleConsumer } from '../../charts/example-consumer.ts';

const JSON_TYPE = 'application/vnd.spring-boot.actuator.v3+json';
const SCRAPE = [
  'kafka_consumer_records_consumed_total{application="a",topic="orders",partition="0"} 40',
  'kafka_consumer_records_consumed_total{application="a",topic="orders",partition="1"} 2',
  'kafka_consumer_records_consumed_total{application="a",topic="others",partition="0"} 9',
].join('\n');

type Answer = { readonly status?: number; readonly type?: string; readonly body?: string };

let server: Server | undefined;
afterEach(() => {
  server?.close();
});

/** Asks a server that answers as it should, but for the given paths. */
async function check(answers: Readonly<Record<string, Answer>>, ...[consumed]: [number?]) {
  const asked: string[] = [];
  server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const isScrape = path === '/actuator/prometheus';
    const usual = isScrape
      ? { type: 'text/plain; version=0.0.4', body: SCRAPE }
      : { type: JSON_TYPE, body: '{"status":"UP"}' };
    const { status = 200, type, body } = { ...usual, ...answers[path] };
    response.writeHead(status, { 'content-type': type }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const endpoint = managementEndpoint(exampleConsumer().settings);
  const finding = await checkEndpoints(
    (path) => fetch(`http://127.0.0.1:${port}${path}`),
    endpoint,
    'orders',
    consumed,
  );
  return { finding, asked };
}

describe('the check of the endpoints', () => {
  test('is content with endpoints that answer as they should, and asks each once', async () => {
    const { finding, asked } = await check({});
    expect(finding).toMatchObject({ expected: '13', found: '13', isWell: true });
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked).toEqual(expect.arrayContaining(['/actuator', '/actuator/info', '/actuator/health/readiness']));
  });

  test.each<[string, string, Answer, string]>([
    ['an error status', '/actuator/info', { status: 503, body: 'no' }, 'status 503: no'],
    ['a status that is not UP', '/actuator/health', { body: '{"status":"DOWN"}' }, 'the status is DOWN'],
    ['another content type', '/actuator/metrics', { type: 'text/html' }, 'the content type is text/html'],
    ['a body that is not JSON', '/actuator', { body: '<p>' }, 'is not valid JSON'],
    ['a scrape without the topic', '/actuator/prometheus', { body: 'x 1' }, 'no series'],
  ])('finds %s', async (_, path, answer, problem) => {
    const { finding } = await check({ [path]: answer });
    expect(finding).toMatchObject({ found: '12', isWell: false });
    expect(finding.details).toEqual([expect.stringMatching(new RegExp(`^GET ${path}: .*${problem}`))]);
  });

  test('compares the counter of consumed records, unless others count there too', async () => {
    expect((await check({}, 42)).finding.isWell).toBe(true);
    server?.close();
    expect((await check({}, 41)).finding.details).toEqual([expect.stringContaining('says 42 records instead of 41')]);
    server?.close();
    expect((await check({}, undefined)).finding.isWell).toBe(true);
  });
});
