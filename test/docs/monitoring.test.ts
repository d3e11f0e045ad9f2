import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { AlertRule } from '../../monitoring/alerts/rule.ts';
import { ruleGroups } from '../../monitoring/alerts/rule-groups.ts';
import { exampleWorkload } from '../charts/example-consumer.ts';

const DOCUMENT = readFileSync('docs/monitoring.md', 'utf8');
const [, WAY = ''] = DOCUMENT.split("### One alert's way");

const RULES = ruleGroups(exampleWorkload()).flatMap(({ rules }) => rules);
const ALERTS = RULES.filter((rule): rule is AlertRule => 'alert' in rule);

interface Post {
  readonly status: string;
  readonly alerts: readonly {
    readonly status: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  }[];
}

const blocks = (language: string): readonly string[] =>
  [...WAY.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text = '']) => text);

const POSTS = blocks('json').map((text) => JSON.parse(text) as Post);
const LINES = blocks('console')
  .join('')
  .split('\n')
  .filter((line) => line.startsWith('{'))
  .map((line) => JSON.parse(line) as { alert?: string; state?: string; metric?: Readonly<Record<string, string>> });

/** What a rule's text becomes, whatever Prometheus puts in the place of its templates. */
const rendered = (template: string) =>
  new RegExp(
    `^${template
      .split(/\{\{.*?\}\}/)
      .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.+')}$`,
  );

describe("one alert's way in docs/monitoring.md", () => {
  test('has the labels and texts that the rule of the example renders', () => {
    expect(POSTS).toHaveLength(2);
    for (const { labels, annotations } of POSTS.flatMap(({ alerts }) => alerts)) {
      const rule = ALERTS.find(
        ({ alert, labels: { severity } }) => alert === labels['alertname'] && severity === labels['severity'],
      );
      const { description = '', ...fixed } = rule?.annotations ?? {};
      expect(annotations).toEqual({ ...fixed, description: expect.stringMatching(rendered(description)) });
      const [, by = ''] = / by \((.*?)\) \(max/.exec(JSON.stringify(RULES)) ?? [];
      expect(Object.keys(labels)).toEqual(['alertname', 'severity', ...by.split(', ')].toSorted());
      expect(labels).toMatchObject({ job: 'orders-consumer', namespace: 'stream-consumer' });
    }
  });

  test('goes from pending over firing to resolved', () => {
    expect(LINES.flatMap(({ state }) => state ?? [])).toEqual(['pending', 'firing', 'firing']);
    expect(POSTS.flatMap(({ status, alerts }) => [status, ...alerts.map((alert) => alert.status)])).toEqual([
      'firing',
      'firing',
      'resolved',
      'resolved',
    ]);
  });

  test('asks for the series that the rule looks at', () => {
    const [alert] = LINES.flatMap(({ alert: name }) => name ?? []);
    const looksAt = ALERTS.filter((rule) => rule.alert === alert).map(({ expr }) => expr.split('{')[0]);
    for (const { metric } of LINES.filter((line) => line.metric !== undefined)) {
      expect(looksAt).toContain(metric?.['__name__']);
    }
  });
});
