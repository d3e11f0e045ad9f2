import { setTimeout as delay } from 'node:timers/promises';
import { METRICS } from '../../contract/metrics.ts';
import { ExplainedError } from '../run/explained-error.ts';
import { runCommand } from './command.ts';
import type { Kubectl } from './kubectl.ts';
import { PROMETHEUS_URL } from './options.ts';

/** Name of the object that asks the operator for a Prometheus. */
const PROMETHEUS = 'cluster-test';
const LIMIT_MS = 90_000;
const POLL_MS = 1_000;

interface Target {
  readonly labels: Readonly<Record<string, string>>;
  readonly health: string;
  readonly lastError: string;
}

interface Rule {
  readonly type: string;
  readonly name: string;
  readonly health: string;
  readonly lastError?: string;
}

async function ask<T>(path: string): Promise<T> {
  const response = await fetch(`${PROMETHEUS_URL}/api/v1/${path}`, { signal: AbortSignal.timeout(10_000) });
  return ((await response.json()) as { data: T }).data;
}

/** Asks until the answer is as it should be; the last problem is told when the time is over. */
async function eventually(problemOf: () => Promise<string | undefined>): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    const problem = await problemOf();
    if (problem === undefined) {
      return;
    }
    if (Date.now() > deadline) {
      throw new ExplainedError(`after ${LIMIT_MS / 1_000} s: ${problem}`);
    }
    await delay(POLL_MS);
  }
}

/** Asks the operator for a Prometheus that takes every monitor and rule of the namespace, and has it run. */
export async function prometheusRuns(kubectl: Kubectl, namespace: string, command: string): Promise<string> {
  await kubectl.apply({
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'Prometheus',
    metadata: { name: PROMETHEUS, namespace },
    spec: { serviceMonitorSelector: {}, ruleSelector: {} },
  });
  const { code, stdout, stderr } = await runCommand('sh', ['-c', `${command} "$1" "$2"`, 'sh', namespace, PROMETHEUS]);
  if (code !== 0) {
    throw new ExplainedError(`CLUSTER_SCRAPE ended with ${code}: ${stdout}${stderr}`);
  }
  return 'runs by what the operator generated';
}

/** Every Pod is found by the ServiceMonitor, and its answer is taken. */
export async function podsScraped(pods: readonly string[]): Promise<string> {
  await eventually(async () => {
    const { activeTargets } = await ask<{ activeTargets: Target[] }>('targets?state=active');
    const up = activeTargets.filter(({ health }) => health === 'up').map(({ labels }) => labels['pod']);
    const missing = pods.filter((pod) => !up.includes(pod));
    const errors = activeTargets.map(({ lastError }) => lastError).filter((error) => error !== '');
    return missing.length === 0 ? undefined : `not up: ${missing.join(', ')} ${errors.join('; ')}`;
  });
  const query = encodeURIComponent(`sum(${METRICS.recordsConsumed.name})`);
  const { result } = await ask<{ result: { value: [number, string] }[] }>(`query?query=${query}`);
  const consumed = Number(result[0]?.value[1] ?? 0);
  if (consumed === 0) {
    throw new ExplainedError(`${METRICS.recordsConsumed.name} is not above 0`);
  }
  return `${pods.length} of ${pods.length} targets up`;
}

/** Every rule was loaded and computed without an error. */
export async function rulesEvaluated(): Promise<string> {
  let alerts: Rule[] = [];
  await eventually(async () => {
    const { groups } = await ask<{ groups: { rules: Rule[] }[] }>('rules');
    const rules = groups.flatMap((group) => group.rules);
    alerts = rules.filter(({ type }) => type === 'alerting');
    const unwell = rules.filter(({ health }) => health !== 'ok');
    return alerts.length > 0 && unwell.length === 0
      ? undefined
      : `${rules.length} rules, not ok: ${unwell.map(({ name, lastError = '' }) => `${name} ${lastError}`).join(', ')}`;
  });
  return `${alerts.length} alerts, all computed`;
}
