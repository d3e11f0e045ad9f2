import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ask } from './ask.ts';
import { type RunningManagement, settingsWith, startManagement } from './running-management.ts';

/** The Accept header of Spring Boot Admin's server and its pages. */
const ACCEPT = [
  'vnd.spring-boot.actuator.v3+json',
  'vnd.spring-boot.actuator.v2+json',
  'vnd.spring-boot.actuator.v1+json',
]
  .map((type) => `application/${type}`)
  .concat('application/json')
  .join(',');

/** Without one of these the server takes the answer for Spring Boot 1's, rewrites it, and finds no endpoints. */
const KNOWN_TYPE = /^application\/vnd\.spring-boot\.actuator\.v[23]\+json/;

interface Metric {
  readonly baseUnit?: string;
  readonly measurements: readonly { readonly statistic: string; readonly value: number }[];
  readonly availableTags: readonly { readonly tag: string; readonly values: readonly string[] }[];
}

let running: RunningManagement;

beforeAll(async () => {
  const info = { process: { enabled: true } };
  running = await startManagement({ settings: settingsWith({ info }) });
});

afterAll(() => running.management.stop());

async function get<T>(path: string): Promise<T> {
  const { status, headers, body } = await ask(running.address.port, {
    url: `/actuator${path}`,
    headers: { accept: ACCEPT, host: 'consumer:8080' },
  });
  expect([path, status]).toEqual([path, 200]);
  expect(headers['content-type']).toMatch(KNOWN_TYPE);
  return JSON.parse(body) as T;
}

const metric = (name: string, ...tags: string[]) =>
  get<Metric>(`/metrics/${name}${tags.length === 0 ? '' : `?tag=${tags.map(encodeURIComponent).join('&tag=')}`}`);

/** The pages show the first measurement, whatever its name. */
async function shown(name: string, ...tags: string[]): Promise<number> {
  const value = (await metric(name, ...tags)).measurements[0]?.value;
  expect(Number.isFinite(value)).toBe(true);
  return value ?? Number.NaN;
}

const valuesOf = ({ availableTags }: Metric, tag: string) =>
  availableTags.find((each) => each.tag === tag)?.values ?? [];

test('the server finds the endpoints: links that are no templates, absolute, by their names', async () => {
  const { _links } = await get<{ _links: Record<string, { href: string; templated: boolean }> }>('');
  const endpoints = Object.entries(_links)
    .filter(([id, { templated }]) => id !== 'self' && !templated)
    .map(([id, { href }]) => [id, href]);
  expect(Object.fromEntries(endpoints)).toEqual({
    health: 'http://consumer:8080/actuator/health',
    info: 'http://consumer:8080/actuator/info',
    metrics: 'http://consumer:8080/actuator/metrics',
    prometheus: 'http://consumer:8080/actuator/prometheus',
  });
});

test('an endpoint that is not there does not look as if it were, when the server tries each', async () => {
  for (const id of ['env', 'heapdump', 'loggers', 'threaddump', 'logfile', 'caches', 'httpexchanges', 'startup']) {
    const { status } = await ask(running.address.port, { method: 'OPTIONS', url: `/actuator/${id}` });
    expect([id, status]).toEqual([id, 404]);
  }
});

test('the health has a status that is text, components to draw, and groups that answer', async () => {
  const health = await get<{ status: unknown; groups: string[]; components: Record<string, { status: string }> }>(
    '/health',
  );
  expect(health.status).toBe('UP');
  expect(health).not.toHaveProperty('details');
  expect(Object.values(health.components).map(({ status }) => status)).not.toContain(undefined);
  expect(health.groups).toEqual(['liveness', 'readiness']);
  for (const group of health.groups) {
    expect(await get(`/health/${group}`)).toEqual({ status: 'UP' });
  }
});

test('a health that is DOWN is JSON of the same kind with 503', async () => {
  const checkDatabase = () => Promise.reject(new Error('connection refused'));
  const other = await startManagement({ checkDatabase });
  const { status, headers, body } = await ask(other.address.port, {
    url: '/actuator/health',
    headers: { accept: ACCEPT },
  });
  await other.management.stop();
  expect([status, JSON.parse(body).status]).toEqual([503, 'DOWN']);
  expect(headers['content-type']).toMatch(KNOWN_TYPE);
});

test('the info has a version for the overview, and the process for its panel', async () => {
  const info = await get<{ build: { version: string }; process: Record<string, unknown> }>('/info');
  expect(info.build.version).toBe('1.2.3');
  expect(info.process).toMatchObject({
    pid: expect.any(Number),
    parentPid: expect.any(Number),
    owner: expect.any(String),
  });
});

test('the panel of the process: uptime in a unit, processors, and their use', async () => {
  expect((await metric('process.uptime')).baseUnit).toBe('seconds');
  expect(await shown('process.uptime')).toBeGreaterThan(0);
  expect(await shown('system.cpu.count')).toBeGreaterThan(0);
  for (const name of ['process.cpu.usage', 'system.cpu.usage', 'application.ready.time']) {
    expect(await shown(name)).toBeGreaterThanOrEqual(0);
  }
});

test.each(['heap', 'nonheap'])('the panel of the memory asks with its first tag twice (%s)', async (area) => {
  const tags = [`area:${area}`, `area:${area}`];
  const used = await metric('jvm.memory.used', ...tags);
  expect(valuesOf(used, 'id').length).toBeGreaterThan(0);
  expect(await shown('jvm.memory.used', ...tags)).toBeGreaterThan(0);
  expect(await shown('jvm.memory.committed', ...tags)).toBeGreaterThan(0);
  await shown('jvm.memory.max', ...tags);
  if (valuesOf(used, 'id').includes('Metaspace')) {
    await shown('jvm.memory.used', ...tags, 'id:Metaspace');
  }
});

test('the panels of threads and of the garbage collector', async () => {
  for (const name of ['jvm.threads.live', 'jvm.threads.peak', 'jvm.threads.daemon']) {
    expect(await shown(name)).toBeGreaterThanOrEqual(0);
  }
  const { measurements, baseUnit } = await metric('jvm.gc.pause');
  expect([measurements.map(({ statistic }) => statistic), baseUnit]).toEqual([
    ['COUNT', 'TOTAL_TIME', 'MAX'],
    'seconds',
  ]);
});

test('the panel of the data sources asks for each by its name', async () => {
  const names = valuesOf(await metric('jdbc.connections.active'), 'name');
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    for (const figure of ['active', 'min', 'max']) {
      await shown(`jdbc.connections.${figure}`, `name:${name}`, `name:${name}`);
    }
  }
});

test('the page of the metrics can show each one that is listed', async () => {
  const { names } = await get<{ names: string[] }>('/metrics');
  expect(names).toEqual(expect.arrayContaining(['jvm.memory.max', 'jvm.gc.pause', 'jdbc.connections.active']));
  for (const name of names) {
    expect((await metric(name)).measurements.length).toBeGreaterThan(0);
  }
});
