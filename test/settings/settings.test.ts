import { describe, expect, test } from '@jest/globals';
import { describeProblem, type Problem } from '../../settings/schema/problem.ts';
import { checkSettings } from '../../settings/settings.ts';

const SMALLEST = {
  kafka: { brokers: ['localhost:9092'], topics: ['orders'], groupId: 'orders-to-postgres' },
  database: { url: 'postgresql://localhost/orders' },
} as const;

function problemsOf(input: unknown): readonly Problem[] {
  const checked = checkSettings(input);
  return checked.ok ? [] : checked.problems;
}

function problemAt(path: string, input: unknown): Problem | undefined {
  return problemsOf(input).find((problem) => problem.path === path);
}

describe('right settings', () => {
  test('are completed with the defaults of every section that was left out', () => {
    const checked = checkSettings(SMALLEST);
    expect(checked).toMatchObject({
      ok: true,
      value: {
        server: { port: 8080, address: '0.0.0.0' },
        kafka: { groupId: 'orders-to-postgres', clientId: 'stream-consumer', ssl: false },
        database: { schema: 'stream_consumer', poolSize: 4 },
        consumer: { startFrom: 'earliest' },
        logging: { level: 'info' },
        management: { health: { kafka: { 'in-root': false } }, metrics: { tags: { application: 'stream-consumer' } } },
      },
    });
  });

  test('keep what was given and the label application beside labels of the user', () => {
    const checked = checkSettings({ ...SMALLEST, management: { metrics: { tags: { region: 'eu' } } } });
    expect(checked.ok && checked.value.management.metrics.tags).toEqual({
      application: 'stream-consumer',
      region: 'eu',
    });
  });

  test('are frozen to the last level', () => {
    const checked = checkSettings(SMALLEST);
    expect(checked.ok && Object.isFrozen(checked.value.management.metrics.tags)).toBe(true);
  });

  test('leave the input as it was', () => {
    const input = { kafka: { ssl: true }, server: {} };
    checkSettings(input);
    expect(input).toEqual({ kafka: { ssl: true }, server: {} });
  });
});

describe('wrong settings', () => {
  test('are all reported at once, missing ones below sections that are not there too', () => {
    const paths = problemsOf({ server: { port: 'eighty' } }).map(({ path }) => path);
    expect(paths.sort()).toEqual(['database.url', 'kafka.brokers', 'kafka.groupId', 'kafka.topics', 'server.port']);
  });

  test('say what was given and what is allowed', () => {
    expect(problemAt('server.port', { ...SMALLEST, server: { port: 70_000 } })).toEqual({
      path: 'server.port',
      message: 'is too large',
      given: 70_000,
      allowed: 'a whole number from 0 to 65535',
    });
  });

  test.each(['10mb', '10 MB', '10M', '1.5GB', '-1', '-10MB', 'MB', '', '10MiB', -1, 0.5])(
    'name the sizes that there are, where %p is none',
    (threshold) => {
      const management = { health: { diskspace: { threshold } } };
      expect(problemAt('management.health.diskspace.threshold', { ...SMALLEST, management })).toMatchObject({
        message: 'is not allowed',
        allowed: expect.stringContaining('one of B, KB, MB, GB, TB'),
      });
    },
  );

  test('name the position in a list', () => {
    const kafka = { ...SMALLEST.kafka, brokers: ['a:9092', 'b'] };
    expect(problemAt('kafka.brokers[1]', { ...SMALLEST, kafka })).toMatchObject({ given: 'b', allowed: 'host:port' });
  });

  test('are one problem for a choice, with all its values', () => {
    expect(problemsOf({ ...SMALLEST, consumer: { startFrom: 'latst' } })).toEqual([
      {
        path: 'consumer.startFrom',
        message: 'is none of the known values',
        given: 'latst',
        allowed: 'one of earliest, latest, committed',
      },
    ]);
  });

  test.each([
    ['a document that is a text', 'server.port=1'],
    ['a document that is a list', [1]],
  ])('are reported for %s', (_name, input) => {
    expect(problemsOf(input)).toMatchObject([{ path: '', message: 'has the wrong type' }]);
  });
});

describe('an unknown key', () => {
  test.each([
    ['server', { prt: 1 }, 'server.prt', 'server.port'],
    ['database', { url: SMALLEST.database.url, username: 'x' }, 'database.username', 'database.user'],
    ['topcs', 'orders', 'topcs', 'kafka.topics'],
    ['databse', {}, 'databse', 'database'],
  ])('below %s gets the nearest known one', (section, value, path, nearest) => {
    expect(problemAt(path, { ...SMALLEST, [section]: value })).toMatchObject({
      message: 'is not a known key',
      nearest,
    });
  });

  test('that resembles nothing gets no suggestion, but the known ones beside it', () => {
    const problem = problemAt('server.xyzzyx', { ...SMALLEST, server: { xyzzyx: 1 } });
    expect(problem).toEqual({ path: 'server.xyzzyx', message: 'is not a known key', allowed: 'port, address, ssl' });
  });

  test('named like a property that every object inherits is still unknown', () => {
    expect(problemAt('server.constructor', { ...SMALLEST, server: { constructor: 1 } })).toBeDefined();
  });
});

describe('values that have to fit', () => {
  test.each([
    ['kafka.brokers[0]', { kafka: { ...SMALLEST.kafka, brokers: ['a:70000'] } }],
    ['kafka.topics[0]', { kafka: { ...SMALLEST.kafka, topics: ['..'] } }],
    ['kafka.topics', { kafka: { ...SMALLEST.kafka, topics: ['a', 'a'] } }],
    ['kafka.sessionTimeout', { kafka: { ...SMALLEST.kafka, sessionTimeout: '5s' } }],
    ['kafka.sessionTimeout', { kafka: { ...SMALLEST.kafka, sessionTimeout: '10' } }],
    ['kafka.fetchMinBytes', { kafka: { ...SMALLEST.kafka, fetchMinBytes: 0 } }],
    ['kafka.fetchMinBytes', { kafka: { ...SMALLEST.kafka, fetchMinBytes: 52_428_801 } }],
    ['kafka.fetchMaxWait', { kafka: { ...SMALLEST.kafka, fetchMaxWait: '9ms' } }],
    ['kafka.fetchMaxWait', { kafka: { ...SMALLEST.kafka, fetchMaxWait: '6s' } }],
    ['kafka.fetchLinger', { kafka: { ...SMALLEST.kafka, fetchLinger: '0' } }],
    ['kafka.fetchLinger', { kafka: { ...SMALLEST.kafka, fetchLinger: '1001ms' } }],
    ['kafka.groupInstanceId', { kafka: { ...SMALLEST.kafka, groupInstanceId: '' } }],
    ['kafka.groupInstanceId', { kafka: { ...SMALLEST.kafka, groupInstanceId: 'pod/1' } }],
    ['kafka.groupInstanceId', { kafka: { ...SMALLEST.kafka, groupInstanceId: '..' } }],
    ['kafka.groupInstanceId', { kafka: { ...SMALLEST.kafka, groupInstanceId: 'a'.repeat(250) } }],
    ['kafka.groupProtocol', { kafka: { ...SMALLEST.kafka, groupProtocol: 'kip848' } }],
    ['deadLetters.topic', { deadLetters: { to: 'topic', topic: 'orders' } }],
    ['deadLetters.topic', { deadLetters: { to: 'both', topic: '..' } }],
    ['deadLetters.topic', { deadLetters: { to: 'topic', topic: 'a b' } }],
    ['deadLetters.topic', { deadLetters: { to: 'topic' }, kafka: { ...SMALLEST.kafka, topics: ['a'.repeat(249)] } }],
    [
      'deadLetters.topic',
      { deadLetters: { to: 'topic' }, kafka: { ...SMALLEST.kafka, topics: ['a', 'a.dead-letters'] } },
    ],
    ['deadLetters.maxRatio', { deadLetters: { maxRatio: 1.1 } }],
    ['database.url', { database: { url: 'postgresql://u:p@ss:word#1@host:port/d' } }],
    ['database.connectTimeout', { database: { ...SMALLEST.database, connectTimeout: '0s' } }],
    ['database.statementTimeout', { database: { ...SMALLEST.database, statementTimeout: '1000h' } }],
    ['shutdown.timeout', { shutdown: { timeout: '0ms' } }],
    ['management.metrics.tags.topic', { management: { metrics: { tags: { topic: 'x' } } } }],
    ['management.metrics.tags.a-b', { management: { metrics: { tags: { 'a-b': 'x' } } } }],
  ])('%s is refused otherwise', (path, input) => {
    expect(problemsOf({ ...SMALLEST, ...input }).map((problem) => problem.path)).toEqual([path]);
  });

  test('are looked at even when something else is wrong', () => {
    const paths = problemsOf({ ...SMALLEST, shutdown: { timeout: '0s' }, server: { port: -1 } }).map(
      ({ path }) => path,
    );
    expect(paths).toEqual(['server.port', 'shutdown.timeout']);
  });
});

describe('a secret never shows', () => {
  test.each([
    ['of the wrong type', { database: { ...SMALLEST.database, password: ['hunter2'] } }],
    ['where a section should be', { kafka: { ...SMALLEST.kafka, sasl: 'plain:hunter2' } }],
    ['at a misspelt key', { database: { ...SMALLEST.database, pasword: 'hunter2' } }],
    ['in a URL of the wrong kind', { database: { url: 'mysql://root:hunter2@host/d' } }],
    ['in a URL that cannot be read', { database: { url: 'postgresql://u:hunter2#@host:x/d' } }],
    ["in a URL's parameter", { database: { url: 'mysql://host/d?password=hunter2' } }],
    ['instead of the whole document', 'postgresql://u:hunter2@host/d'],
  ])('%s', (_name, input) => {
    const problems = problemsOf(typeof input === 'string' ? input : { ...SMALLEST, ...input });
    expect(problems).not.toHaveLength(0);
    expect(JSON.stringify(problems) + problems.map(describeProblem).join()).not.toContain('hunter2');
  });
});

describe('a description', () => {
  test('holds path, message, value, source and what is allowed', () => {
    const problem = {
      path: 'server.port',
      message: 'is too large',
      given: 70_000,
      allowed: 'a whole number',
      source: 'application.yml:3:9',
    };
    expect(describeProblem(problem)).toBe(
      'server.port is too large: 70000 (application.yml:3:9)\n  allowed: a whole number',
    );
  });

  test('asks for the nearest key', () => {
    const problem = { path: 'prt', message: 'is not a known key', allowed: 'port', nearest: 'port' };
    expect(describeProblem(problem)).toBe('prt is not a known key; did you mean port?\n  allowed: port');
  });

  test('cuts a long value', () => {
    const long = describeProblem({ path: 'a', message: 'is too long', given: 'x'.repeat(5_000), allowed: 'less' });
    expect(long.length).toBeLessThan(200);
  });
});
