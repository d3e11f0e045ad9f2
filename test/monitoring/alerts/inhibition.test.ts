import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { ALERTS } from '../../../contract/alerts.ts';
import { alertsOf, renderedMonitoring } from '../rendered-monitoring.ts';

interface Inhibition {
  readonly inhibit_rules: readonly {
    readonly source_matchers: readonly string[];
    readonly target_matchers: readonly string[];
    readonly equal: readonly string[];
  }[];
}

const TEXT = readFileSync('docs/examples/alertmanager/inhibition.yml', 'utf8');
const { inhibit_rules: rules } = parse(TEXT) as Inhibition;

const hasAmtool = spawnSync('amtool', ['--version']).error === undefined;
const isRequired = process.env['CI'] === 'true';

if (!hasAmtool && !isRequired) {
  process.stderr.write(
    'amtool is not installed (Debian: apt-get install prometheus-alertmanager): the inhibitions are NOT checked\n',
  );
}

/** What amtool says to the inhibitions in an alertmanager.yml that has them and nothing else of interest. */
function checked(inhibitions: object): { status: number | null; output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'amtool-'));
  const file = join(folder, 'alertmanager.yml');
  writeFileSync(file, stringify({ route: { receiver: 'all' }, receivers: [{ name: 'all' }], ...inhibitions }));
  const { status, stdout, stderr } = spawnSync('amtool', ['check-config', file], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return { status, output: stdout + stderr };
}

(hasAmtool || isRequired ? test : test.skip)('amtool finds all inhibitions, and nothing wrong with them', () => {
  const { status, output } = checked(parse(TEXT) as object);
  expect(output).toContain(`- ${rules.length} inhibit rules`);
  expect(status).toBe(0);
  const [first] = rules;
  expect(checked({ inhibit_rules: [{ ...first, source_matchers: ['severity=~"("'] }] }).status).not.toBe(0);
});

/** The alerts that matchers name. */
const named = (matchers: readonly string[]) =>
  matchers.flatMap((matcher) => /^alertname=~?"([^"]+)"$/.exec(matcher)?.[1]?.split('|') ?? []);

test('they name alerts that there are, and none silences itself', () => {
  for (const { source_matchers: source, target_matchers: target } of rules) {
    expect([...named(source), ...named(target)].filter((alert) => !(alert in ALERTS))).toEqual([]);
    expect(named(source).filter((alert) => named(target).includes(alert))).toEqual([]);
  }
});

test('a warning silences nothing: of an alert with both levels only critical does, and by topic where the other alert is of one', () => {
  const twoLevels = Object.entries(ALERTS).filter(([, levels]) => 'warning' in levels && 'critical' in levels);
  for (const { source_matchers: source, target_matchers: target, equal } of rules) {
    const isMild = named(source).some((alert) => twoLevels.some(([name]) => name === alert));
    expect(isMild && !source.includes('severity="critical"')).toBe(false);
    const isOfTopic = named(source).some((alert) => /^(KafkaUnreachable|TopicGone)$/.test(alert));
    const isForTopic = named(target).some((alert) => /^(ConsumerLag|RecordsLate)/.test(alert));
    expect(isOfTopic && isForTopic && !equal.includes('topic')).toBe(false);
  }
  expect(rules.some(({ source_matchers: source }) => named(source).includes('TopicGone'))).toBe(true);
});

test('each compares what tells one consumer from another, however it is scraped, and its cluster', () => {
  const identity = ['cluster', 'namespace', 'job', 'app_kubernetes_io_instance'];
  for (const { equal } of rules) {
    expect(equal).toEqual(expect.arrayContaining(identity));
  }
});

test('critical silences the warning of the same topic and Pod: by each label that such an alert keeps', () => {
  const equal = rules[0]?.equal ?? [];
  const twoLevels = Object.entries(ALERTS).filter(([, levels]) => 'warning' in levels && 'critical' in levels);
  const kept = alertsOf(renderedMonitoring())
    .filter(({ alert }) => twoLevels.some(([name]) => name === alert))
    .flatMap(({ expr }) => /^(?:max|min|sum) by \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? []);
  // One Pod has one instance.
  expect([...new Set(kept)].filter((label) => label !== 'instance' && !equal.includes(label))).toEqual([]);
});
