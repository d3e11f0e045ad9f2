/** Who owns which field in the cluster: what docs/gitops.md says of conflicts, by the very commands that it shows. */
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { type Kubectl, runCommand } from './kubectl.ts';
import { applied, withoutDifference } from './manifest-checks.ts';
import { REPLICAS, synthesize } from './tested-consumer.ts';

const PAGE = resolve(import.meta.dirname, '..', '..', 'docs', 'gitops.md');

/** Names of the commands' blocks in docs/gitops.md. */
type Documented = 'taken over' | 'git wins' | 'autoscaler deleted';

/** The commands that a page shows under a mark. @throws ExplainedError when it shows none */
export function documentedCommands(name: Documented, page = readFileSync(PAGE, 'utf8')): string {
  const [, block = ''] = page.split(`<!-- run by test:cluster: ${name} -->\n\`\`\`bash\n`);
  const [commands = ''] = block.split('```');
  if (commands === '') {
    throw new ExplainedError(`docs/gitops.md has no commands under the mark "${name}"`);
  }
  return commands;
}

/** Runs commands as a reader would, one after the other until one fails. @throws ExplainedError with its message */
async function shell(commands: string, cwd: string): Promise<void> {
  const { code, stderr } = await runCommand('sh', ['-e', '-c', commands], { cwd });
  if (code !== 0) {
    throw new ExplainedError(`exit code ${code} of:\n${commands}${stderr.trim()}`);
  }
}

/** Runs a page's commands in a folder that has these manifests, by their paths in it. */
async function asDocumented(run: RunFolder, name: Documented, manifests: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(run.path, 'documented-'));
  for (const [path, source] of Object.entries(manifests)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    cpSync(source, join(folder, path), { recursive: true });
  }
  await shell(documentedCommands(name), folder);
}

/** @returns the fields of the conflict that an apply ends with @throws ExplainedError when it ends with none */
async function conflict(kubectl: Kubectl, folder: string, owner: string): Promise<void> {
  const { code, stderr } = await kubectl.run(['apply', '--server-side', '--filename', folder]);
  if (code === 0 || !stderr.includes(`conflict with "${owner}"`)) {
    throw new ExplainedError(`no conflict with ${owner}, but exit code ${code}: ${stderr.trim()}`);
  }
}

async function podsAre(kubectl: Kubectl, deployment: string, wanted: number): Promise<void> {
  const found = await wantedPods(kubectl, deployment);
  if (found !== wanted) {
    throw new ExplainedError(`the Deployment has ${found} replicas, not ${wanted}`);
  }
}

/** The number of Pods that the Deployment has by now, as its manifest, a person or an autoscaler set it. */
export const wantedPods = async (kubectl: Kubectl, deployment: string): Promise<number> =>
  Number(await kubectl.text('get', `deployment/${deployment}`, '--output', 'jsonpath={.spec.replicas}'));

/** A release that was applied client-side is taken over by a later one. */
export async function takenOver(run: RunFolder, kubectl: Kubectl, before: string, after: string): Promise<string> {
  await kubectl.text('apply', '--filename', before);
  await conflict(kubectl, after, 'kubectl-client-side-apply');
  await asDocumented(run, 'taken over', { 'before/dist': before, dist: after });
  await withoutDifference(kubectl, after);
  return 'a conflict, then the old release and the new one server-side: no difference is left';
}

/** A number of Pods that somebody set by hand gives way to that in git. */
export async function gitWins(run: RunFolder, kubectl: Kubectl, folder: string, deployment: string): Promise<string> {
  await kubectl.text('scale', `deployment/${deployment}`, `--replicas=${REPLICAS + 1}`);
  await conflict(kubectl, folder, 'kubectl" with subresource "scale');
  await asDocumented(run, 'git wins', { dist: folder });
  await podsAre(kubectl, deployment, REPLICAS);
  return `a conflict, then ${REPLICAS} replicas`;
}

/**
 * Gives the number of Pods to an autoscaler by the command that synth prints, and applies the manifests without it.
 *
 * @param dist the manifests with `replicas`; those with the autoscaler take their place
 * @throws ExplainedError when the number of Pods changes by that
 */
export async function handedOver(
  kubectl: Kubectl,
  dist: string,
  document: object,
  deployment: string,
): Promise<string> {
  const { notes } = await synthesize(dirname(dist), document);
  const [, command] = /: (echo .* \| kubectl .*)$/m.exec(notes) ?? [];
  if (command === undefined) {
    throw new ExplainedError(`synth printed no command that hands the number of Pods over: ${notes}`);
  }
  await shell(command, dirname(dist));
  await applied(kubectl, dist);
  await podsAre(kubectl, deployment, REPLICAS);
  return `still ${REPLICAS} replicas`;
}

/** What an autoscaler sets is left as it is by an apply. */
export async function autoscalerKept(kubectl: Kubectl, folder: string, deployment: string): Promise<string> {
  await kubectl.text('scale', `deployment/${deployment}`, `--replicas=${REPLICAS + 1}`);
  await applied(kubectl, folder);
  await podsAre(kubectl, deployment, REPLICAS + 1);
  return `still ${REPLICAS + 1} replicas`;
}

/** `replicas` takes the place of the autoscaler again. */
export async function takenBack(
  run: RunFolder,
  kubectl: Kubectl,
  dist: string,
  { namespace, deployment, document }: { namespace: string; deployment: string; document: object },
): Promise<string> {
  await synthesize(dirname(dist), document);
  const commands = documentedCommands('autoscaler deleted');
  await shell(commands.replace('NAMESPACE', namespace).replace('NAME', deployment), dirname(dist));
  await conflict(kubectl, dist, 'kubectl" with subresource "scale');
  await asDocumented(run, 'git wins', { dist });
  await podsAre(kubectl, deployment, REPLICAS);
  return `the autoscaler deleted, a conflict, then ${REPLICAS} replicas`;
}
