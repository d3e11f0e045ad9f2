import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

/** The parts of a container in a synthesized Deployment that say how it runs. */
export interface ManifestContainer {
  readonly image: string;
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly livenessProbe: ManifestProbe;
  readonly readinessProbe: ManifestProbe;
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly securityContext: {
    readonly allowPrivilegeEscalation: boolean;
    readonly capabilities: { readonly drop: readonly string[] };
    readonly readOnlyRootFilesystem: boolean;
    readonly runAsGroup: number;
    readonly runAsUser: number;
  };
}

export interface ManifestProbe {
  readonly failureThreshold: number;
  readonly httpGet: { readonly path: string; readonly port: number; readonly scheme: string };
  readonly initialDelaySeconds: number;
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
}

interface Deployment {
  readonly kind: string;
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly ManifestContainer[];
        readonly terminationGracePeriodSeconds: number;
      };
    };
  };
}

/** The Pod's template in a file of manifests. */
function podSpec(file: string): Deployment['spec']['template']['spec'] {
  const documents = parseAllDocuments(readFileSync(file, 'utf8')).map((each) => each.toJS() as Deployment);
  const deployment = documents.find(({ kind }) => kind === 'Deployment');
  if (deployment === undefined) {
    throw new Error(`${file} holds no Deployment`);
  }
  return deployment.spec.template.spec;
}

/** The consumer's container in a file of manifests. */
export function manifestContainer(file: string): ManifestContainer {
  const [container] = podSpec(file).containers;
  if (container === undefined) {
    throw new Error(`${file} holds no container`);
  }
  return container;
}

/** Seconds between SIGTERM and SIGKILL in a file of manifests. */
export const gracePeriodSeconds = (file: string): number => podSpec(file).terminationGracePeriodSeconds;

/**
 * podman's flags for the restrictions of a container's manifest.
 *
 * @param user who it runs as. @default the manifest's
 */
export function restrictionFlags(
  { securityContext, resources }: ManifestContainer,
  user = `${securityContext.runAsUser}:${securityContext.runAsGroup}`,
): string[] {
  return [
    ...(securityContext.readOnlyRootFilesystem ? ['--read-only', '--read-only-tmpfs=false'] : []),
    ...securityContext.capabilities.drop.flatMap((name) => ['--cap-drop', name]),
    ...(securityContext.allowPrivilegeEscalation ? [] : ['--security-opt', 'no-new-privileges']),
    ...['--user', user],
    ...['--memory', resources.limits.memory.replace('Mi', 'm')],
  ];
}

/** Environment variables whose value is in the manifest itself. */
export const plainEnvironment = ({ env }: ManifestContainer): Record<string, string> =>
  Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
