import { expect, test } from '@jest/globals';
import { Gauge, Registry } from 'prom-client';
import { familyWriter } from '../../../../app/metrics/exposition/exposition.ts';
import type { MetricDefinition } from '../../../../contract/metrics.ts';

const HELP = 'Tells \\ what\nit "is".';

const definitionOf = (type: MetricDefinition['type']): MetricDefinition => ({
  name: type === 'info' ? 'orders_seconds_info' : 'orders_seconds',
  type,
  help: HELP,
  labels: ['topic'],
  ...(type === 'histogram' ? { buckets: [0.5, 1] } : {}),
});

const linesOf = (type: MetricDefinition['type'], ...labels: string[]) => {
  const samples = labels.map((topic) => ({ labels: { topic }, value: 1.5, count: 3, buckets: [1, 2] }));
  return familyWriter(definitionOf(type), { application: 'a' }, 'openmetrics')(samples).split('\n');
};

test.each<[MetricDefinition['type'], readonly string[]]>([
  ['info', ['_info{application="a",topic="first"} 1.5']],
  ['summary', ['_count{application="a",topic="first"} 3', '_sum{application="a",topic="first"} 1.5']],
  [
    'histogram',
    [
      '_bucket{application="a",le="0.5",topic="first"} 1',
      '_bucket{application="a",le="1",topic="first"} 2',
      '_bucket{application="a",le="+Inf",topic="first"} 3',
      '_count{application="a",topic="first"} 3',
      '_sum{application="a",topic="first"} 1.5',
    ],
  ],
])('each line of a series of type %s has its own value, and the family ends with a line break', (type, expected) => {
  const [kind, help, ...lines] = linesOf(type, 'first');
  expect(help).toMatch(/^# HELP orders_seconds /);
  expect(kind).toBe(`# TYPE orders_seconds ${type}`);
  expect(lines).toEqual([...expected.map((line) => `orders_seconds${line}`), '']);
});

test.each(['info', 'summary', 'histogram'] as const)('series of type %s follow each other in one family', (type) => {
  const [one, two] = [linesOf(type, 'first'), linesOf(type, 'first', 'second')];
  expect(two.slice(0, one.length - 1)).toEqual(one.slice(0, -1));
  expect(two.slice(one.length - 1)).toEqual(one.slice(2).map((line) => line.replace('first', 'second')));
});

test.each(['gauge', 'counter', 'info', 'summary', 'histogram'] as const)(
  'help and labels of type %s are escaped as by prom-client',
  async (type) => {
    const topic = 'with "quotes", \\ and\na line';
    const registry = new Registry();
    const gauge = new Gauge({
      name: 'orders_seconds',
      help: HELP,
      labelNames: ['application', 'topic'],
      registers: [registry],
    });
    gauge.set({ application: 'a', topic }, 1.5);
    const [help, , series = ''] = (await registry.getSingleMetricAsString('orders_seconds')).split('\n');
    const lines = linesOf(type, topic);
    expect(lines[1]).toBe(help);
    expect(lines.at(-2)?.replace(/^\w+/, 'orders_seconds')).toBe(series);
  },
);

test('a series without labels has no braces', () => {
  const write = familyWriter({ ...definitionOf('gauge'), labels: [] }, {}, 'text');
  expect(write([{ labels: {}, value: 2 }]).split('\n')).toContain('orders_seconds 2');
});
