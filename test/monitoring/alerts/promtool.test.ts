import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { prometheusFiles } from '../../../monitoring/prometheus-files.ts';
import { exampleWorkload } from '../../charts/example-consumer.ts';
import { longTest } from '../../integration/stack/long-test.ts';

const FIXTURES = 'test/monitoring/alerts';
const fixtures = readdirSync(FIXTURES).filter((file) => file.endsWith('.yaml'));
/** The cases of the one alert whose rule is another one where annotations say what to scrape. */
const OF_ANOTHER_RULE = 'health-check-failing.yaml';

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;
const isRequired = process.env['CI'] === 'true';

if (!hasPromtool && !isRequired) {
  process.stderr.write(
    'promtool is not installed (Debian: apt-get install prometheus): the alert rules are NOT tested\n',
  );
}

/** A consumer with every alert, and each level of it. */
const withEveryAlert = (monitoring: object = {}) => ({
  application: { schemaRegistry: { url: 'https://registry.example.com' } },
  monitoring: {
    alerts: {
      rules: {
        DeadLettersWaiting: { enabled: true },
        RebalanceStorm: { enabled: true },
        RecordsLate: { enabled: true },
      },
    },
    ...monitoring,
  },
});

const rulesText = (monitoring: object = {}): string =>
  prometheusFiles(exampleWorkload(withEveryAlert(monitoring))).get('rules.yml') ?? '';

let folder = '';

/** Cases at intervals of a scrape job that consumer.yaml does not know. */
const FOREIGN_JOB = 'foreign-job/health-check-failing.yaml';

/** Cases of one consumer in two clusters. */
const TWO_CLUSTERS = 'two-clusters/same-consumer.yaml';

/** Values of the label cluster: a usual one, and one with all that means something in PromQL, Go's templates or printf. */
const CLUSTERS = { 'a usual': 'eu-1', 'an odd': 'a"b\\c`d%s$x{{ $y }}[[z]] é' } as const;

/** A third of its time would go into collecting garbage of which there is little. */
const PROMTOOL_ENV = { ...process.env, GOGC: '400' };

function promtool(...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8', env: PROMTOOL_ENV });
  return { status, output: stdout + stderr };
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly { alert?: string; record?: string; expr: string }[] }[];
}

/**
 * The rules that the cases ask about. promtool evaluates each rule of a file at each moment of each case, but looks only
 * at the alerts that the case names: all others would take most of the time, and change nothing.
 */
function rulesFor(cases: string, rules: Rules): Rules {
  const all = rules.groups.flatMap((group) => group.rules);
  const alerts = all.filter(({ alert }) => alert !== undefined && cases.includes(`alertname: ${alert}`));
  const asked = [cases, ...alerts.map(({ expr }) => expr)];
  const records = all.filter(({ record }) => record !== undefined && asked.some((text) => text.includes(record)));
  const kept = new Set([...alerts, ...records]);
  return { groups: rules.groups.map((group) => ({ ...group, rules: group.rules.filter((rule) => kept.has(rule)) })) };
}

/** Writes each file of cases beside the rules that it asks about, in a folder of its own. */
function writeCases(
  parent: string,
  files: readonly string[],
  rules: string,
  labelled: (cases: string) => string,
): void {
  for (const fixture of files) {
    const cases = labelled(readFileSync(join(FIXTURES, fixture), 'utf8'));
    const own = join(folder, parent, fixture);
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, 'cases.yaml'), cases);
    writeFileSync(join(own, 'rules.yml'), stringify(rulesFor(cases, parse(rules))));
  }
}

/** The same cases as the usual job for annotated Pods labels their series. */
function asAnnotated(cases: string): string {
  return cases
    .replaceAll('job="orders-consumer"', 'job="kubernetes-pods",app_kubernetes_io_instance="orders-consumer"')
    .replaceAll('job="another"', 'job="kubernetes-pods",app_kubernetes_io_instance="another"')
    .replaceAll('job: orders-consumer', 'job: kubernetes-pods, app_kubernetes_io_instance: orders-consumer');
}

/** The same cases where that cluster has another name. */
const inCluster = (cluster: string) => (cases: string) =>
  cases
    .replaceAll('cluster="eu-1"', () => `cluster=${JSON.stringify(cluster)}`)
    .replaceAll('cluster: eu-1', () => `cluster: ${JSON.stringify(cluster)}`);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'promtool-'));
  for (const [name, text] of prometheusFiles(exampleWorkload(withEveryAlert()))) {
    writeFileSync(join(folder, name), text);
  }
  writeCases('usual', fixtures, rulesText(), (cases) => cases);
  for (const [what, cluster] of Object.entries(CLUSTERS)) {
    writeCases(what, [TWO_CLUSTERS], rulesText({ matchers: { cluster } }), inCluster(cluster));
  }
  writeCases('annotated', [...fixtures, FOREIGN_JOB], rulesText({ scrape: 'annotations' }), asAnnotated);
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** The same rules by the labels of the usual job for annotated Pods. */
const byAnnotatedLabels = (rules: string): string =>
  rules
    .replaceAll('job="orders-consumer"', 'job="kubernetes-pods",app_kubernetes_io_instance="orders-consumer"')
    .replaceAll('(namespace, job', '(namespace, job, app_kubernetes_io_instance');

test('where annotations say what to scrape, all rules but that of HealthCheckFailing differ in their labels alone', () => {
  const others = (rules: string) =>
    (parse(rules) as Rules).groups
      .flatMap((group) => group.rules)
      .filter(({ alert }) => alert !== 'HealthCheckFailing');
  const annotated = others(rulesText({ scrape: 'annotations' }));
  expect(annotated.length).toBeGreaterThan(30);
  expect(annotated).toEqual(others(byAnnotatedLabels(rulesText())));
});

test('promtool is there wherever the rules have to be proved', () => {
  expect(hasPromtool || !isRequired).toBe(true);
});

(hasPromtool ? describe : describe.skip)('promtool', () => {
  test('finds nothing wrong with the rules', () => {
    const { status, output } = promtool('check', 'rules', '--lint=all', '--lint-fatal', 'rules.yml');
    expect(output).toContain('SUCCESS: 35 rules found');
    expect(status).toBe(0);
  });

  test('accepts the scrape job in a configuration of Prometheus', () => {
    const { status, output } = promtool('check', 'config', 'scrape.yml');
    expect(output).toContain('SUCCESS');
    expect(status).toBe(0);
  });

  test.each(fixtures)('sees the rules fire and stay silent as %s says', (fixture) => {
    const { status, output } = promtool('test', 'rules', join('usual', fixture, 'cases.yaml'));
    expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' });
  });

  test.each(Object.keys(CLUSTERS))('sees rules keep to the series of their cluster, by %s name', (what) => {
    const { status, output } = promtool('test', 'rules', join(what, TWO_CLUSTERS, 'cases.yaml'));
    expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' });
  });

  test('sees a dead Pod where a job scrapes annotated Pods every 30 or 60 s', () => {
    const { status, output } = promtool('test', 'rules', join('annotated', FOREIGN_JOB, 'cases.yaml'));
    expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' });
  });

  for (const fixture of fixtures) {
    const register = fixture === OF_ANOTHER_RULE ? test : longTest;
    register(`sees the same where annotations say what to scrape, as ${fixture} says`, async () => {
      const { status, output } = promtool('test', 'rules', join('annotated', fixture, 'cases.yaml'));
      expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' });
    });
  }
});
