import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { ALERT_LEVELS, ALERTS, type AlertDefinition, type AlertName } from '../../../contract/alerts.ts';

const FOLDER = 'test/monitoring/alerts';

/** What an alert has to be right in. The name of a case ends with what it is about, in brackets. */
const SITUATIONS = [
  'fires',
  'not yet',
  'benign',
  'flapping',
  'stale marker',
  'two Pods',
  'counter reset',
  'born at 1',
  'no data',
  'blind',
  'rolling update',
  'all Pods gone',
] as const;

type Situation = (typeof SITUATIONS)[number];

/** Why there is no such case. */
const REASONS = {
  gauge: 'the alert asks no counter',
  perPod: 'it is an alert for each Pod, and no other one tells the same series',
  zero: 'the counter is there with 0 from the start of the process, and the first one before a scrape is below the limit',
  awake: 'a Prometheus that is blind evaluates no rule, and has scraped before it evaluates the next one',
} as const;

/** Where the cases are: `own` in the alert's own file, `every` in every-alert.yaml, or the reason why there is none. */
const CASES: Readonly<Record<AlertName, string>> = {
  //                          fires not yet benign flapping stale two Pods reset born  no data blind rolling gone
  ConsumerLagHigh: '           own   own    own    own      own   own      every gauge own     every own     every',
  ConsumerLagTime: '           own   own    own    own      own   own      every gauge every   every every   every',
  HealthCheckFailing: '        own   own    own    own      own   perPod   own   gauge every   every own     every',
  ConsumerAbsent: '            own   own    own    own      own   own      gauge gauge own     awake own     own',
  ConsumerRestarting: '        own   own    own    own      own   perPod   own   gauge every   every own     every',
  MemoryHigh: '                own   own    own    own      own   own      every gauge every   every every   own',
  HeapNearItsLimit: '          own   own    own    own      own   own      every gauge every   every every   every',
  EventLoopBlocked: '          own   own    own    own      own   own      every gauge own     own   own     own',
  DatabaseConnectionFailures: 'own   own    own    own      own   own      own   own   every   own   every   every',
  KafkaUnreachable: '          own   own    own    own      own   own      every gauge every   every every   every',
  SchemaRegistryAway: '        own   own    own    own      own   own      every gauge every   every every   every',
  CertificateExpires: '        own   own    own    own      own   own      every gauge own     own   own     own',
  TopicGone: '                 own   own    own    own      own   own      every gauge every   every every   every',
  TopicWaits: '                own   own    own    own      own   own      every gauge every   every every   every',
  PartitionUnassigned: '       own   own    own    own      own   own      every gauge own     own   own     own',
  PartitionUnreadable: '       own   own    own    own      own   own      every gauge every   every every   every',
  PartitionLeaderless: '       own   own    own    own      own   own      every gauge every   every every   every',
  RecordsSkipped: '            own   own    own    own      own   own      own   own   every   own   every   every',
  DeadLettersHigh: '           own   own    own    own      own   own      own   own   every   own   every   every',
  DeadLettersWaiting: '        own   own    own    own      own   own      every gauge every   every every   every',
  WriterFenced: '              own   own    own    own      own   own      own   zero  every   every every   every',
  RebalanceStorm: '            own   own    own    own      own   perPod   own   zero  every   every every   every',
  RecordsLate: '               own   own    own    own      own   own      own   zero  every   every every   every',
};

/** A case as promtool reads it. */
interface Case {
  readonly name: string;
  readonly alert_rule_test: readonly {
    readonly alertname: string;
    readonly exp_alerts?: readonly {
      readonly exp_labels: Readonly<Record<string, string>>;
      readonly exp_annotations: Readonly<Record<string, string>>;
    }[];
  }[];
}

const fileOf = (alert: string): string => `${alert.replaceAll(/(?<!^)([A-Z])/g, '-$1').toLowerCase()}.yaml`;

const casesIn = (file: string) => (parse(readFileSync(join(FOLDER, file), 'utf8')) as { tests: readonly Case[] }).tests;

const tagsOf = ({ name }: Case): readonly string[] => / \[([^\]]+)\]$/.exec(name)?.[1]?.split(', ') ?? [];

const asksFor = (alert: string) => (one: Case) => one.alert_rule_test.some(({ alertname }) => alertname === alert);

/** The cell of the table, as the files have it. */
function found(alert: AlertName, situation: Situation): string | undefined {
  const has = (file: string) =>
    casesIn(file)
      .filter(asksFor(alert))
      .some((one) => tagsOf(one).includes(situation));
  return (has(fileOf(alert)) && 'own') || (has('every-alert.yaml') && 'every') || undefined;
}

const expectations = (alert: AlertName) =>
  casesIn(fileOf(alert)).flatMap(({ alert_rule_test: asked }) => asked.filter(({ alertname }) => alertname === alert));

test('every file of cases is of an alert, and every case says what it is about', () => {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'));
  expect(files.toSorted()).toEqual([...Object.keys(ALERTS).map(fileOf), 'every-alert.yaml'].toSorted());
  for (const one of files.flatMap(casesIn)) {
    const tags = tagsOf(one);
    const known: readonly string[] = SITUATIONS;
    expect([one.name, tags.length > 0, tags.filter((tag) => !known.includes(tag))]).toEqual([one.name, true, []]);
  }
});

describe.each(Object.entries(CASES) as [AlertName, string][])('%s', (alert, row) => {
  const cells = row.trim().split(/\s+/);

  test('has its cases where the table says, and a reason for each that it has not', () => {
    const table = Object.fromEntries(SITUATIONS.map((situation, nth) => [situation, cells[nth]]));
    const inFiles = SITUATIONS.map((situation, nth) => {
      const reason = (cells[nth] ?? '') in REASONS ? cells[nth] : 'missing';
      return [situation, found(alert, situation) ?? reason];
    });
    expect(Object.fromEntries(inFiles)).toEqual(table);
  });

  test('is seen to fire at each level with its labels and text, and to be silent', () => {
    const asked = expectations(alert);
    const told = asked.flatMap(({ exp_alerts: expected = [] }) => expected);
    const { [alert]: definition }: Readonly<Record<string, AlertDefinition>> = ALERTS;
    const levels = ALERT_LEVELS.filter((level) => definition?.[level] !== undefined);
    expect(levels.filter((level) => !told.some(({ exp_labels: labels }) => labels['severity'] === level))).toEqual([]);
    for (const { exp_annotations: text } of told) {
      expect(Object.keys(text)).toEqual(['summary', 'description', 'runbook_url']);
    }
    expect(asked.some(({ exp_alerts: expected = [] }) => expected.length === 0)).toBe(true);
  });
});
