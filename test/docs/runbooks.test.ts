import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { ALERTS } from '../../contract/alerts.ts';

const FOLDER = 'docs/runbooks';
const runbook = (alert: string): string => readFileSync(join(FOLDER, `${alert}.md`), 'utf8');

/**
 * What distinguishes a query from other text in backquotes: a function or an aggregation of a metric, or a metric by its
 * labels.
 */
const QUERY = /^(?:[a-z_]+(?: by \([a-z, ]+\))? ?\(+[a-z_: (]*[a-z]+(?:_[a-z]|\))|[a-z]+(?:_[a-z]+)+\{)/;

/** Queries in a text: those in backquotes, those in blocks, and those of the shell's function `query`. */
const queriesIn = (text: string): readonly string[] => [
  ...[...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code).filter((code) => QUERY.test(code)),
  ...[...text.matchAll(/^```promql\n([^`]+)\n```/gm)].map(([, query = '']) => query),
  ...[...text.matchAll(/^query "([^"]+)"/gm)].map(([, query = '']) => query),
];

/** The shell's text of a runbook. */
const shellIn = (text: string): string =>
  [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, shell]) => shell).join('\n');

/** Runbooks whose first command no test can run, and why. */
const UNTRIED: Readonly<Record<string, string>> = {
  ConsumerAbsent: 'it asks a cluster why there is no Pod',
};

/** Alerts whose first command a test runs against the trouble. */
const TRIED = new Set(
  readdirSync('test/integration', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .flatMap((path) => [
      ...readFileSync(join('test/integration', path), 'utf8').matchAll(/runbookCommand\('(\w+)', [^)']*\)/g),
    ])
    .map(([, alert]) => alert),
);

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;

test('there is a runbook for each alert, and none besides', () => {
  expect(readdirSync(FOLDER).toSorted()).toEqual(
    Object.keys(ALERTS)
      .map((alert) => `${alert}.md`)
      .toSorted(),
  );
});

describe.each(Object.keys(ALERTS))('%s', (alert) => {
  test('says what it means, its impact, what to do first, when it is over, what it can be, whom to tell', () => {
    const text = runbook(alert);
    const parts = ['**What it means.**', '**Impact.**', '## First five minutes', 'Is it over?', '## What it can be'];
    const places = [...parts, '## Escalation'].map((part) => text.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places.toSorted((one, other) => one - other)).toEqual(places);
  });

  test('asks Prometheus whether it is over, and says for how long the alert is kept', () => {
    const [isItOver = ''] = /^Is it over\?[\s\S]*?(?=^## )/m.exec(runbook(alert)) ?? [];
    expect(queriesIn(isItOver).length).toBeGreaterThan(0);
    const { keepFiringFor } = ALERTS[alert as keyof typeof ALERTS];
    const minutes = keepFiringFor.replace('m', '');
    const kept = `Prometheus keeps the alert for ${minutes} minutes after that. The alert's text stays at the last value`;
    expect(isItOver.replaceAll('\n', ' ').includes(kept)).toBe(keepFiringFor !== '0s');
  });

  test('has commands for every Pod, port, base path, certificate and credential', () => {
    expect(shellIn(runbook(alert))).not.toMatch(
      /port-forward|localhost|logs deployment|kubectl (?!--namespace|get deployments --all)/,
    );
  });

  test('has a first command that a test runs against the trouble', () => {
    expect([alert, TRIED.has(alert)]).toEqual([alert, !(alert in UNTRIED)]);
  });
});

(hasPromtool || process.env['CI'] === 'true' ? test : test.skip)(
  'every query of a runbook, and of docs/metrics.md, is one to Prometheus',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'runbooks-'));
    const lookedAt = [...readFileSync('docs/metrics.md', 'utf8').matchAll(/^\| [^|]*\? \| `([^`]+)` \|$/gm)];
    expect(lookedAt.length).toBeGreaterThan(10);
    const queries = [
      ...Object.keys(ALERTS).flatMap((alert) => queriesIn(runbook(alert))),
      ...lookedAt.map(([, query = '']) => query),
    ];
    const rules = queries.map((expr, nth) => ({ record: `query:${nth}`, expr: expr.replaceAll('$NAME', 'orders') }));
    writeFileSync(join(folder, 'queries.yml'), stringify({ groups: [{ name: 'queries', rules }] }));
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', 'queries.yml'], { cwd: folder });
    rmSync(folder, { recursive: true });
    expect({ status, output: status === 0 ? '' : `${stdout}${stderr}` }).toEqual({ status: 0, output: '' });
  },
);

const DOCUMENTS = [
  'README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((path) => join('docs', path)),
];

test('no document asks for the rate of a counter whose series end at a rebalance', () => {
  const asks = /(rate|sum|increase)[^`\n]*\([^`\n]*kafka_consumer_records_consumed_total/;
  const documents = DOCUMENTS.filter((path) => path.endsWith('.md'));
  expect(documents.filter((path) => asks.test(readFileSync(path, 'utf8')))).toEqual([]);
});

(hasPromtool || process.env['CI'] === 'true' ? test : test.skip)(
  'the text of an alert that is kept stays at the last value beyond the limit',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'runbooks-'));
    const rule = { alert: 'High', expr: 'lag > 10', keep_firing_for: '5m', annotations: { text: '{{ $value }}' } };
    writeFileSync(join(folder, 'rules.yml'), stringify({ groups: [{ name: 'kept', rules: [rule] }] }));
    const exp_alerts = [{ exp_annotations: { text: '15' } }];
    const at5m = {
      interval: '1m',
      input_series: [{ series: 'lag', values: '20 18 15 5 4 3 2' }],
      alert_rule_test: [{ eval_time: '5m', alertname: 'High', exp_alerts }],
    };
    writeFileSync(
      join(folder, 'test.yml'),
      stringify({ rule_files: ['rules.yml'], evaluation_interval: '1m', tests: [at5m] }),
    );
    const { status, stdout } = spawnSync('promtool', ['test', 'rules', 'test.yml'], { cwd: folder, encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect({ status, stdout: status === 0 ? '' : stdout }).toEqual({ status: 0, stdout: '' });
  },
);
