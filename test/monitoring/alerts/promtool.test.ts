import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { prometheusFiles } from '../../../monitoring/prometheus-files.ts';
import { exampleWorkload } from '../../charts/example-consumer.ts';

const FIXTURES = 'test/monitoring/alerts';
const fixtures = readdirSync(FIXTURES).filter((file) => file.endsWith('.yaml'));

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;
const isRequired = process.env['CI'] === 'true';

if (!hasPromtool && !isRequired) {
  process.stderr.write(
    'promtool is not installed (Debian: apt-get install prometheus): the alert rules are NOT tested\n',
  );
}

/** Every alert is on, and each level of it. */
const EVERY_ALERT = {
  alerts: { rules: { RebalanceStorm: { enabled: true }, RecordsLate: { enabled: true } } },
};

const rulesText = (monitoring: object = {}): string =>
  prometheusFiles(exampleWorkload({ monitoring: { ...EVERY_ALERT, ...monitoring } })).get('rules.yml') ?? '';

let folder = '';

/** Rules and cases for Pods that annotations make Prometheus scrape, under labels of its own. */
let annotated = '';

function promtool(...args: string[]): { status: number | null; output: string } {
  return promtoolIn(folder, ...args);
}

function promtoolIn(cwd: string, ...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

/** The same cases as the usual job for annotated Pods labels their series. */
function asAnnotated(cases: string): string {
  return cases
    .replaceAll('job="orders-consumer"', 'job="kubernetes-pods",app_kubernetes_io_instance="orders-consumer"')
    .replaceAll('job="another"', 'job="kubernetes-pods",app_kubernetes_io_instance="another"')
    .replaceAll('job: orders-consumer', 'job: kubernetes-pods, app_kubernetes_io_instance: orders-consumer');
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'promtool-'));
  for (const [name, text] of prometheusFiles(exampleWorkload({ monitoring: EVERY_ALERT }))) {
    writeFileSync(join(folder, name), text);
  }
  annotated = join(folder, 'annotated');
  mkdirSync(annotated);
  writeFileSync(join(annotated, 'rules.yml'), rulesText({ scrape: 'annotations' }));
  for (const fixture of fixtures) {
    const cases = readFileSync(join(FIXTURES, fixture), 'utf8');
    writeFileSync(join(folder, fixture), cases);
    writeFileSync(join(annotated, fixture), asAnnotated(cases));
  }
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('promtool is there wherever the rules have to be proved', () => {
  expect(hasPromtool || !isRequired).toBe(true);
});

(hasPromtool ? describe : describe.skip)('promtool', () => {
  test('finds nothing wrong with the rules', () => {
    const { status, output } = promtool('check', 'rules', '--lint=all', '--lint-fatal', 'rules.yml');
    expect(output).toContain('SUCCESS: 31 rules found');
    expect(status).toBe(0);
  });

  test('accepts the scrape job in a configuration of Prometheus', () => {
    const { status, output } = promtool('check', 'config', 'scrape.yml');
    expect(output).toContain('SUCCESS');
    expect(status).toBe(0);
  });

  test.each(fixtures)('sees the rules fire and stay silent as %s says', (fixture) => {
    const { status, output } = promtool('test', 'rules', fixture);
    expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' });
  });

  test.each(fixtures)('sees the same where annotations say what to scrape, as %s says', (fixture) => {
    const { status, output } = promtoolIn(annotated, 'test', 'rules', fixture);
    expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' });
  });
});
