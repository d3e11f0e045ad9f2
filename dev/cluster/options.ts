/** Commands and addresses for parts of the test; without one of them its part is skipped. */
export interface ClusterOptions {
  /** Command that makes an image known to the nodes, given the path of its tar. */
  readonly loadImage: string | undefined;
  /** Address under which Pods reach this machine's loopback ports. */
  readonly host: string | undefined;
  /** Command that runs the Prometheus of a namespace and a name, at {@link PROMETHEUS_URL}. */
  readonly scrape: string | undefined;
}

/** Address of the Prometheus that the command of CLUSTER_SCRAPE runs. */
export const PROMETHEUS_URL = 'http://127.0.0.1:9390';

export const CLUSTER_HELP = `Applies the manifests to a real cluster, rolls, breaks and deletes them there, and prints a table of what held.

  KUBECONFIG=FILE npm run test:cluster

It works in a new namespace with Pod Security "restricted" and removes it. More is tested with these variables:

  CLUSTER_LOAD_IMAGE  a command that makes an image known to the nodes; it gets the path of a docker-archive (podman save)
  CLUSTER_HOST        the address under which Pods reach ports of this machine's 127.0.0.1; Kafka and PostgreSQL listen there
  CLUSTER_SCRAPE      a command that gets namespace and name of a Prometheus object and runs a Prometheus by what the
                      operator made of it, at ${PROMETHEUS_URL}

With the first two, KEDA scales the Pods where it runs in the cluster; it has to reach CLUSTER_HOST, too.

Needs kubectl; the image's part also podman or docker, Java >= 17 and Maven. Exit code 1: something failed.
`;

/** Reads the environment; an empty variable is as good as none. */
function readClusterOptions(env: NodeJS.ProcessEnv): ClusterOptions {
  return {
    loadImage: env['CLUSTER_LOAD_IMAGE'] || undefined,
    host: env['CLUSTER_HOST'] || undefined,
    scrape: env['CLUSTER_SCRAPE'] || undefined,
  };
}

/** A test, or a text and an exit code. */
export type ClusterRequest =
  | { readonly kind: 'test'; readonly options: ClusterOptions }
  | { readonly kind: 'exit'; readonly code: number; readonly stdout?: string; readonly stderr?: string };

const EXIT_USAGE = 2;

const SKIPPED = 'SKIPPED: KUBECONFIG names no cluster, so nothing was tested (npm run test:cluster -- --help)\n';

/** Reads the command line and the environment; without a cluster nothing is tested, which is no failure. */
export function readClusterRequest(args: readonly string[], env: NodeJS.ProcessEnv): ClusterRequest {
  const unknown = args.filter((arg) => arg !== '--help' && arg !== '-h');
  if (unknown.length > 0) {
    return { kind: 'exit', code: EXIT_USAGE, stderr: `unknown: ${unknown.join(' ')}\n\n${CLUSTER_HELP}` };
  }
  if (args.length > 0) {
    return { kind: 'exit', code: 0, stdout: CLUSTER_HELP };
  }
  return env['KUBECONFIG']
    ? { kind: 'test', options: readClusterOptions(env) }
    : { kind: 'exit', code: 0, stdout: SKIPPED };
}
