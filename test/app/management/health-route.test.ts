import { afterEach, expect, test } from '@jest/globals';
import type { ConsumerReport } from '../../../app/stream/partition/consumer-state.ts';
import { HEALTH_COMPONENTS } from '../../../settings/sections/health.ts';
import { RUNNING, type RunningManagement, startManagement } from './running-management.ts';

let running: RunningManagement;

afterEach(() => running.management.stop());

async function ask(path: string): Promise<[number, unknown]> {
  const { statusCode, body } = await running.app.inject({ url: `/actuator/health${path}` });
  return [statusCode, body === '' ? '' : JSON.parse(body)];
}

const refuse = () => Promise.reject(new Error('connection refused'));

test('all is 200 while all works', async () => {
  running = await startManagement();
  const [status, body] = await ask('');
  expect(status).toBe(200);
  expect(Object.keys((body as { components: object }).components)).toEqual(
    HEALTH_COMPONENTS.filter((name) => name !== 'schemaRegistry'),
  );
  expect(await ask('/readiness')).toEqual([200, { status: 'UP' }]);
  expect(await ask('/liveness')).toEqual([200, { status: 'UP' }]);
});

test('a database that is away is 503 in the whole, in its component and in readiness', async () => {
  running = await startManagement({ checkDatabase: refuse });
  expect((await ask(''))[0]).toBe(503);
  expect(await ask('/db')).toEqual([503, { status: 'DOWN', details: { error: 'Error: connection refused' } }]);
  expect(await ask('/readiness')).toEqual([503, { status: 'DOWN' }]);
  expect(await ask('/liveness')).toEqual([200, { status: 'UP' }]);
});

test('Kafka away is 503 at its own path and in readiness, and 200 in the whole', async () => {
  running = await startManagement({ checkKafka: refuse });
  expect((await ask('/kafka'))[0]).toBe(503);
  expect(await ask('/readiness')).toEqual([503, { status: 'DOWN' }]);
  const [status, body] = await ask('');
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: 'UP', components: { kafka: { status: 'DOWN' } } });
});

test('draining is 503 at once, without waiting for a check', async () => {
  running = await startManagement();
  await ask('');
  running.management.draining();
  expect(await ask('/readiness')).toEqual([503, { status: 'OUT_OF_SERVICE' }]);
  expect(await ask('/liveness')).toEqual([200, { status: 'UP' }]);
});

test('an error in a check shows no password', async () => {
  const checkDatabase = () => Promise.reject(new Error('no pg_hba entry for postgres://orders:s3cr3t@db/orders'));
  running = await startManagement({ checkDatabase });
  expect(JSON.stringify(await ask('/db'))).not.toContain('s3cr3t');
});

test('an answer waits for no check that hangs, not even until that is given up', async () => {
  const hang = () => new Promise<never>(() => undefined);
  running = await startManagement({ checkDatabase: hang, checkKafka: hang });
  const [status, body] = await ask('');
  expect(status).toBe(503);
  const notYet = { status: 'OUT_OF_SERVICE', details: { error: 'not checked yet' } };
  expect(body).toMatchObject({ status: 'OUT_OF_SERVICE', components: { db: notYet, kafka: notYet } });
});

test('many requests cost the database and Kafka one check, slow or not', async () => {
  let checks = 0;
  const slow = () => {
    checks += 1;
    return new Promise<never>(() => undefined);
  };
  running = await startManagement({ checkDatabase: slow, checkKafka: slow });
  const paths = ['', '/db', '/kafka', '/readiness', '/liveness'];
  const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => ask(paths[index % paths.length] ?? '')));
  expect(new Set(answers.map(([status]) => status))).toEqual(new Set([200, 503]));
  expect(checks).toBe(2);
});

test('the state of the consumer is read anew for each answer', async () => {
  let report: ConsumerReport = RUNNING;
  running = await startManagement({ report: () => report });
  expect((await ask('/consumer'))[0]).toBe(200);
  report = { ...RUNNING, state: 'failed', lastError: 'Error: fenced' };
  expect(await ask('/consumer')).toMatchObject([503, { status: 'DOWN', details: { lastError: 'Error: fenced' } }]);
  expect(await ask('/liveness')).toEqual([503, { status: 'DOWN' }]);
});

test.each(['/db//', '//', '/%20', '/constructor', '/__proto__', '/hasOwnProperty', '/livenes', '/readiness/db'])(
  'what does not exist is 404 without a body: %s',
  async (path) => {
    running = await startManagement();
    expect(await ask(path)).toEqual([404, '']);
  },
);
