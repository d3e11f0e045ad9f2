import { setTimeout as delay } from 'node:timers/promises';
import type { ManagementEndpoint } from '../../contract/actuator.ts';
import { METRICS } from '../../contract/metrics.ts';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { checkEndpoints } from '../verdict/check-endpoints.ts';
import { type Kubectl, runCommand } from './kubectl.ts';
import { PROMETHEUS_URL } from './options.ts';
import { WRITTEN } from './tested-consumer.ts';

const ROLLOUT_LIMIT = '--timeout=300s';

/** Name of the Prometheus object. */
const PROMETHEUS = 'cluster-test';
const SCRAPE_LIMIT_MS = 90_000;
const POLL_MS = 1_000;

/** Waits until the rollout is over: every Pod is new and ready by its probe. */
export async function rolledOut(kubectl: Kubectl, deployment: string): Promise<string> {
  try {
    await kubectl.text('rollout', 'status', `deployment/${deployment}`, ROLLOUT_LIMIT);
  } catch (error) {
    const events = await kubectl.run(['get', 'events', '--field-selector', 'type=Warning', '--output', 'wide']);
    const logs = await kubectl.run(['logs', `deployment/${deployment}`, '--tail=10']);
    throw new ExplainedError(`${(error as Error).message}\n${events.stdout}${logs.stdout}${logs.stderr}`);
  }
  const path = 'jsonpath={.status.readyReplicas} of {.status.replicas}';
  return `${await kubectl.text('get', `deployment/${deployment}`, '--output', path)} Pods ready`;
}

/** Names of the Pods that are not about to end. */
export async function podNames(
  kubectl: Kubectl,
  selector: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const labels = Object.entries(selector).map(([name, value]) => `${name}=${value}`);
  const text = await kubectl.text('get', 'pods', '--selector', labels.join(','), '--output', 'json');
  const { items } = JSON.parse(text) as { items: { metadata: { name: string; deletionTimestamp?: string } }[] };
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.name);
}

/** Deletes one Pod, as the drain of a node would, and waits until all replicas are ready again. */
export async function podDeleted(kubectl: Kubectl, deployment: string, pod: string): Promise<string> {
  await kubectl.text('delete', 'pod', pod, '--wait', '--timeout=120s');
  return rolledOut(kubectl, deployment);
}

/** Checks every endpoint of a Pod through a port that kubectl forwards. */
export async function endpointsAnswer(
  run: RunFolder,
  namespace: string,
  pod: string,
  endpoint: ManagementEndpoint,
): Promise<string> {
  const address = ['--namespace', namespace, '--address', '127.0.0.1'];
  const port = await new Promise<string>((resolve, reject) => {
    const lines: string[] = [];
    const onLine = (line: string): void => {
      lines.push(line);
      const [, forwarded] = /^Forwarding from 127\.0\.0\.1:(\d+)/.exec(line) ?? [];
      if (forwarded !== undefined) {
        resolve(forwarded);
      }
    };
    const args = ['port-forward', ...address, `pod/${pod}`, `:${endpoint.port}`];
    run
      .spawn({ program: 'kubectl', args, onLine })
      .then(
        ({ exited }) => exited.then(() => reject(new ExplainedError(`kubectl port-forward ended: ${lines.join(' ')}`))),
        reject,
      );
  });
  const get = (path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(10_000) });
  const { isWell, found, expected, details } = await checkEndpoints(get, endpoint, WRITTEN.topic, undefined);
  if (!isWell) {
    throw new ExplainedError([`${found} of ${expected}`, ...details].join('\n'));
  }
  return `${found} of ${expected} answer as they should`;
}

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

/** Polls until there is no problem any more. @throws ExplainedError with the last problem when the time is over */
async function eventually(problemOf: () => Promise<string | undefined>): Promise<void> {
  const deadline = Date.now() + SCRAPE_LIMIT_MS;
  for (;;) {
    const problem = await problemOf();
    if (problem === undefined) {
      return;
    }
    if (Date.now() > deadline) {
      throw new ExplainedError(`after ${SCRAPE_LIMIT_MS / 1_000} s: ${problem}`);
    }
    await delay(POLL_MS);
  }
}

/** Creates a Prometheus object for all monitors and rules of the namespace, and runs it by CLUSTER_SCRAPE. */
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

/** Checks that Prometheus finds every Pod by the ServiceMonitor, and has the metrics of the Pods. */
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

/** Checks that Prometheus has loaded every rule and evaluates it without an error. */
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
