import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { HTTPMethods } from 'fastify';
import { type Capture, contractHeaders, readCaptures } from './capture.ts';
import { type RunningManagement, startManagement } from './running-management.ts';

type Part = 'headers' | 'body';

/** Where an answer is meant to differ from the captured one, and why. */
const DIFFERENCES: Readonly<Record<string, { readonly parts: readonly Part[]; readonly reason: string }>> = {
  info: { parts: ['body'], reason: 'Node.js has no java section; what is shown is tested with the info route' },
  'info-v2': { parts: ['body'], reason: 'as info' },
  'health-encoded-slash': { parts: ['headers', 'body'], reason: "Tomcat's own error page; here the usual error JSON" },
  'health-preflight': { parts: ['headers'], reason: 'a text body says its content type here' },
  'prometheus-any': { parts: ['body'], reason: "the capture's body was left out: it holds the JVM's 183 families" },
  'prometheus-openmetrics-2': { parts: ['body'], reason: 'as prometheus-any' },
  'prometheus-openmetrics-3': {
    parts: ['headers', 'body'],
    reason: 'as prometheus-any; and gzip is sent when it is asked for, which Spring Boot has to be told to',
  },
};

/** Captures that are not in the folder, because they show what does not exist here. */
const NOT_COMPARED: Readonly<Record<string, string>> = {
  error: '/error is a path like any other',
  'health-ssl': 'there are no SSL bundles',
  'metric-executor.active': 'no task executor',
  'metric-tomcat.sessions.active.current': 'no Tomcat',
  'metric-spring.kafka.listener': 'no Spring listener',
  'metric-jvm.info, metric-jvm.threads.states': 'no JVM',
  'metric-hikaricp.*, metric-jdbc.*': 'the pool is exported as db_pool_*',
  'metric-kafka.consumer.fetch.manager.*': 'lag and consumed records are exported as kafka_consumer_records_*',
  'metric-application.ready.time, metric-disk.free, metric-process.files.max': 'not exported',
  'metric-tag-heap-eden, metric-tag-heap-eden-comma': "the ids are the JVM's pools; tested with V8's spaces",
  'metric-tag-percent': 'a malformed percent-encoding in a tag is 400, as in Spring Boot 4, not silently dropped',
  'prometheus-protobuf': 'no protobuf: the next acceptable type is used; tested with the scrape route',
  'prometheus-name-array': "Tomcat's refusal of brackets in a query",
  'prometheus-included-timer, prometheus-included-max': 'http_server_requests is not exported',
};

/** Keys whose values are part of the contract; of all others only the type is. */
const EXACT_KEYS = new Set([
  'status',
  'error',
  'path',
  'href',
  'templated',
  'name',
  'statistic',
  'tag',
  'baseUnit',
  'groups',
  'database',
  'validationQuery',
  'exists',
]);

/** Values and places that cannot be the same here: Boot's component `ssl`, and ours that Boot does not have. */
const FOREIGN_COMPONENTS = new Set(['ssl', 'kafka', 'consumer']);
const PATHS_OF_DISKS = /^\//;

let running: RunningManagement;

beforeAll(async () => {
  running = await startManagement();
});

afterAll(() => running.management.stop());

test.each(readCaptures().map((capture) => [capture.name, capture] as const))(
  'answers as Spring Boot does: %s',
  async (name, capture) => {
    const answer = await running.app.inject({
      method: capture.method as HTTPMethods,
      url: capture.url,
      headers: { host: '127.0.0.1:9180', ...capture.requestHeaders },
    });
    const differs = DIFFERENCES[name]?.parts ?? [];
    expect(answer.statusCode).toBe(capture.status);
    if (!differs.includes('headers')) {
      expect(contractHeaders(answer.headers)).toEqual(withoutProtobuf(capture.headers));
    }
    if (!differs.includes('body')) {
      expect(describe(answer.body, answer.headers['content-type'])).toEqual(
        describe(capture.body, capture.headers['content-type']),
      );
    }
  },
);

test('names only captures that there are as different, and gives a reason for each', () => {
  const names = new Set(readCaptures().map(({ name }: Capture) => name));
  expect(Object.keys(DIFFERENCES).filter((name) => !names.has(name))).toEqual([]);
  expect(Object.keys(NOT_COMPARED).filter((name) => names.has(name))).toEqual([]);
});

function withoutProtobuf(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value.replace(/, application\/vnd\.google\.protobuf.*$/, ''),
    ]),
  );
}

/** What has to be the same of a body. */
function describe(body: string, contentType: unknown): unknown {
  if (body === '') {
    return 'empty';
  }
  const type = String(contentType);
  if (type.includes('json')) {
    return shapeOf(JSON.parse(body));
  }
  if (type.startsWith('text/html')) {
    return body.startsWith('<html>') || body.startsWith('<!doctype html>') ? 'page' : 'no page';
  }
  return type.includes('version=') ? familiesOf(body) : body;
}

/** Keys in their order, exact values where they matter, types elsewhere; of a list, the different shapes in it. */
function shapeOf(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    if (EXACT_KEYS.has(key)) {
      return value;
    }
    return [...new Set(value.map((item) => JSON.stringify(shapeOf(item))))].sort();
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .filter(([name]) => !FOREIGN_COMPONENTS.has(name))
      .map(([name, item]) => [name, shapeOf(item, name)]);
  }
  if (key === 'timestamp') {
    return String(value).replace(/\d/g, '0');
  }
  return EXACT_KEYS.has(key) && !isDiskPath(key, value) ? value : typeof value;
}

/** `path` is the asked path in an error, and a folder of the machine in diskSpace. */
function isDiskPath(key: string, value: unknown): boolean {
  return key === 'path' && PATHS_OF_DISKS.test(String(value)) && !String(value).startsWith('/actuator');
}

/** Families in their order, with type and label names; help texts and values are their own. */
function familiesOf(exposition: string): unknown {
  return exposition
    .trim()
    .split('\n')
    .map((line) =>
      line.replace(/^# HELP (\S+) .+$/, '# HELP $1').replace(/ \S+$/, (end) => (line[0] === '#' ? end : '')),
    )
    .map((line) => line.replace(/\{(.*)\}/, (_all, labels: string) => `{${labelNames(labels)}}`))
    .filter((line, index, lines) => lines.indexOf(line) === index);
}

const labelNames = (labels: string): string =>
  [...labels.matchAll(/(\w+)="/g)]
    .map(([, name]) => name)
    .sort()
    .join();
