import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import {
  DEFAULT_STATUS_RULES,
  type Health,
  type HealthComponent,
  type Status,
  stateComponent,
} from '../../../app/health/health.ts';
import { HealthEndpoint, type HealthGroup } from '../../../app/health/health-endpoint.ts';

/** A group of the named components that shows everything; without names, of all components. */
const group = (...names: string[]): HealthGroup => ({
  isMember: (name) => names.length === 0 || names.includes(name),
  shows: { components: true, details: true },
  rules: DEFAULT_STATUS_RULES,
});

const NO_GROUPS: ReadonlyMap<string, HealthGroup> = new Map();

const component = (name: string, status: Status) => stateComponent(name, () => ({ status }));

/** A component with a first result that the test gives. */
function silentComponent(name: string): HealthComponent & { answer(health: Health): void } {
  let current: Health | undefined;
  let markKnown: () => void = () => undefined;
  const known = new Promise<void>((resolve) => {
    markKnown = resolve;
  });
  return {
    name,
    known,
    current: () => current,
    answer: (health) => {
      current = health;
      markKnown();
    },
  };
}

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

test('the report has its groups and components sorted, and the most severe status', async () => {
  const endpoint = new HealthEndpoint({
    components: [component('ping', 'UP'), component('db', 'DOWN')],
    root: group(),
    groups: new Map([
      ['liveness', group('ping')],
      ['readiness', group('db')],
    ]),
    outsideRoot: [],
  });
  const { report } = await endpoint.find([], true);
  expect(JSON.stringify(report)).toBe(
    '{"status":"DOWN","groups":["liveness","readiness"],"components":{"db":{"status":"DOWN"},"ping":{"status":"UP"}}}',
  );
});

test('the statuses of the components are those of the report, and one that was not checked yet is OUT_OF_SERVICE', async () => {
  const silent = silentComponent('db');
  const endpoint = new HealthEndpoint({
    components: [component('ping', 'UP'), component('kafka', 'UNKNOWN'), silent],
    root: group(),
    groups: new Map(),
    outsideRoot: ['kafka'],
  });
  const statuses = () => Object.fromEntries(endpoint.componentStatuses());
  expect(statuses()).toEqual({ db: 'OUT_OF_SERVICE', kafka: 'UNKNOWN', ping: 'UP' });
  silent.answer({ status: 'DOWN' });
  expect(statuses()).toEqual({ db: 'DOWN', kafka: 'UNKNOWN', ping: 'UP' });
});

test('a component outside the root is shown and counts in its group, but not for the whole', async () => {
  const endpoint = new HealthEndpoint({
    components: [component('kafka', 'DOWN'), component('ping', 'UP')],
    root: group(),
    groups: new Map([['readiness', group('kafka', 'ping')]]),
    outsideRoot: ['kafka'],
  });
  expect((await endpoint.find([], true)).report).toMatchObject({
    status: 'UP',
    components: { kafka: { status: 'DOWN' } },
  });
  expect((await endpoint.find(['readiness'], true))?.report.status).toBe('DOWN');
  expect(await endpoint.find(['kafka'], true)).toEqual({ httpStatus: 503, report: { status: 'DOWN' } });
});

test('there is no answer for names that do not exist, those of every object included', async () => {
  const endpoint = new HealthEndpoint({
    components: [component('ping', 'UP')],
    root: group(),
    groups: NO_GROUPS,
    outsideRoot: [],
  });
  for (const name of ['nosuch', 'constructor', '__proto__', 'toString']) {
    expect(await endpoint.find([name], true)).toBeUndefined();
    expect(await endpoint.find(['ping', name], true)).toBeUndefined();
  }
});

test('an answer waits one second at most for a first result, and what is missing then is OUT_OF_SERVICE', async () => {
  const endpoint = new HealthEndpoint({
    components: [silentComponent('db'), component('ping', 'UP')],
    root: group(),
    groups: NO_GROUPS,
    outsideRoot: [],
  });
  const answered = jest.fn();
  const answer = endpoint.find([], true).then(({ report }) => {
    answered();
    return report;
  });
  await jest.advanceTimersByTimeAsync(999);
  expect(answered).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  expect(await answer).toMatchObject({
    status: 'OUT_OF_SERVICE',
    components: { db: { status: 'OUT_OF_SERVICE', details: { error: 'not checked yet' } } },
  });
});

test('an answer comes as soon as the first results are there, and leaves no timer', async () => {
  const db = silentComponent('db');
  const endpoint = new HealthEndpoint({ components: [db], root: group(), groups: NO_GROUPS, outsideRoot: [] });
  const answer = endpoint.status();
  db.answer({ status: 'UP' });
  expect(await answer).toBe('UP');
  expect(jest.getTimerCount()).toBe(0);
});

test('a group does not wait for components that are not in it', async () => {
  const endpoint = new HealthEndpoint({
    components: [silentComponent('db'), component('livenessState', 'UP')],
    root: group(),
    groups: new Map([['liveness', group('livenessState')]]),
    outsideRoot: [],
  });
  expect((await endpoint.find(['liveness'], true))?.report.status).toBe('UP');
});
