import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { METRICS, type MetricDefinition } from '../../../contract/metrics.ts';
import { startedMetrics } from './running-metrics.ts';

/** Names that Prometheus' own rules do not allow, kept because dashboards and tools ask for them. */
const MICROMETERS_OWN: Readonly<Record<string, string>> = {
  process_cpu_time_ns_total: 'Micrometer counts in nanoseconds',
  system_cpu_count: 'Micrometer names the gauge of processors like this',
};

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;
const isRequired = process.env['CI'] === 'true';

(hasPromtool || isRequired ? test : test.skip)('promtool finds nothing wrong with any name that is ours', async () => {
  const input = await (await startedMetrics()).write('text');
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
  const complaints = stderr.split('\n').filter((line) => line !== '');
  expect(stdout).toBe('');
  expect(complaints.map((line) => line.split(' ')[0]).sort()).toEqual(Object.keys(MICROMETERS_OWN).sort());
  expect(status).toBe(3);
});

test('only names that Micrometer has, too, break a rule', () => {
  const dotted = Object.values<MetricDefinition>(METRICS).filter((metric) => metric.dotted !== undefined);
  for (const name of Object.keys(MICROMETERS_OWN)) {
    expect(dotted.map((metric) => metric.name)).toContain(name);
  }
});

test('no name and no dotted name stands in the catalogue twice, and counters alone end in _total', () => {
  const all = Object.values<MetricDefinition>(METRICS);
  const names = all.flatMap(({ name, dotted }) => (dotted === undefined ? [name] : [name, dotted]));
  expect(new Set(names).size).toBe(names.length);
  for (const { name, type } of all) {
    expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
  }
});

test("a dotted name with dots for underscores, its unit and type added, is the name in Prometheus: Micrometer's rule", () => {
  for (const { name, dotted, unit, type } of Object.values<MetricDefinition>(METRICS)) {
    if (dotted !== undefined) {
      const words = dotted.replaceAll('.', '_');
      const stem = type === 'counter' ? words.replace(/_total$/, '') : words;
      const withUnit = unit === undefined || stem.endsWith(`_${unit}`) ? stem : `${stem}_${unit}`;
      expect([dotted, name]).toEqual([dotted, type === 'counter' ? `${withUnit}_total` : withUnit]);
    }
  }
});
