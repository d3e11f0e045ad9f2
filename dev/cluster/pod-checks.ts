import type { ManagementEndpoint } from '../../contract/actuator.ts';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { checkEndpoints } from '../verdict/check-endpoints.ts';
import type { Kubectl } from './kubectl.ts';
import { WRITTEN } from './tested-consumer.ts';

const ROLLOUT_LIMIT = '--timeout=300s';

/** Waits until the rollout is over: every Pod is new and ready by its own probe. */
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

/** Takes one Pod away, as a node's drain would, and waits until there are as many as before. */
export async function podDeleted(kubectl: Kubectl, deployment: string, pod: string): Promise<string> {
  await kubectl.text('delete', 'pod', pod, '--wait', '--timeout=120s');
  return rolledOut(kubectl, deployment);
}

/** Asks every endpoint of a Pod through a port that kubectl forwards. */
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
