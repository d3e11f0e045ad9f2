import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { checkConsumerFile } from '../../../deployment/check-consumer.ts';
import { consumerDocument } from '../../charts/example-consumer.ts';
import { alertsOf, renderedMonitoring } from '../rendered-monitoring.ts';

const FILE = 'docs/examples/alertmanager/route.yml';

const hasAmtool = spawnSync('amtool', ['--version']).error === undefined;
const isRequired = process.env['CI'] === 'true';

const amtool = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync('amtool', args, { encoding: 'utf8' });
  return { status, answer: stdout.trim(), problem: stderr };
};

/** The labels that docs/deploy.md gives to alerts. */
const [, block = ''] = /^```yaml\n(monitoring:\n[\s\S]*?)^```/m.exec(readFileSync('docs/deploy.md', 'utf8')) ?? [];
const changes = parse(block) as { readonly monitoring: { readonly alerts: { readonly labels: object } } };

test('the labels of docs/deploy.md are on each alert', () => {
  expect(checkConsumerFile(consumerDocument(changes))).toMatchObject({ ok: true });
  const alerts = alertsOf(renderedMonitoring(changes));
  expect(alerts.length).toBeGreaterThan(10);
  for (const { labels } of alerts) {
    expect(labels).toMatchObject(changes.monitoring.alerts.labels);
  }
});

(hasAmtool || isRequired ? test : test.skip)(
  'the example routes critical alerts with these labels to the pager, warnings to the chat, and no others',
  () => {
    expect(amtool('check-config', FILE)).toMatchObject({ status: 0 });
    const labels = Object.entries(changes.monitoring.alerts.labels).map(([name, value]) => `${name}=${value}`);
    const receiver = (...given: readonly string[]) =>
      amtool('config', 'routes', 'test', `--config.file=${FILE}`, ...given).answer;
    expect(receiver(...labels, 'alertname=ConsumerLagHigh', 'severity=critical')).toBe('orders-pager');
    expect(receiver(...labels, 'alertname=ConsumerLagHigh', 'severity=warning')).toBe('orders-chat');
    expect(receiver('alertname=ConsumerLagHigh', 'severity=critical')).toBe('everything-else');
  },
);
