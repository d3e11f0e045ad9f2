import { execFile } from 'node:child_process';
import { ExplainedError } from '../run/explained-error.ts';

/** Exit code and output of a program. */
interface Finished {
  /** -1 when it could not be started or was killed. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface CommandOptions {
  /** Its standard input. @default empty */
  readonly input?: string;
  /** @default this process's */
  readonly cwd?: string;
}

const LARGEST_OUTPUT = 64 * 1_048_576;

/** Runs a program to its end; a missing program gives a result, too. */
export function runCommand(program: string, args: readonly string[], options: CommandOptions = {}): Promise<Finished> {
  const { input = '', cwd } = options;
  return new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      { encoding: 'utf8', maxBuffer: LARGEST_OUTPUT, ...(cwd === undefined ? {} : { cwd }) },
      (error, stdout, stderr) => {
        const code = child.exitCode ?? -1;
        resolve({ code, stdout, stderr: stderr === '' && code !== 0 ? (error?.message ?? '') : stderr });
      },
    );
    // EPIPE, when the program ends before it has read everything: its exit code says more.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

/** An object of the API server, with the fields that the checks read. */
export interface ClusterObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly status?: object;
}

/** kubectl, for one namespace of the cluster that KUBECONFIG names. */
export class Kubectl {
  readonly #namespace: string;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** Runs kubectl; any exit code is a result. */
  run(args: readonly string[], input = ''): Promise<Finished> {
    return runCommand('kubectl', ['--namespace', this.#namespace, ...args], { input });
  }

  /**
   * Runs kubectl.
   *
   * @returns its standard output
   * @throws ExplainedError with kubectl's message when it fails
   */
  async text(...args: readonly string[]): Promise<string> {
    return this.#checked(args, await this.run(args));
  }

  /** Applies an object server-side. @throws ExplainedError with kubectl's message when it fails */
  async apply(manifest: object): Promise<void> {
    const args = ['apply', '--server-side', '--filename', '-'];
    this.#checked(args, await this.run(args, JSON.stringify(manifest)));
  }

  /** The objects of the files in a folder, as they are in the cluster. @throws ExplainedError when one is missing */
  async objects(folder: string): Promise<readonly ClusterObject[]> {
    const list = JSON.parse(await this.text('get', '--filename', folder, '--output', 'json')) as {
      items: ClusterObject[];
    };
    return list.items;
  }

  #checked(args: readonly string[], { code, stdout, stderr }: Finished): string {
    if (code !== 0) {
      throw new ExplainedError(`kubectl ${args.join(' ')} ended with ${code}: ${stderr.trim() || stdout.trim()}`);
    }
    return stdout;
  }
}
