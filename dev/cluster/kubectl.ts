import { execFile } from 'node:child_process';
import { ExplainedError } from '../run/explained-error.ts';

/** How a program ended and what it wrote. */
interface Finished {
  /** -1 when it could not be started or was killed. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface CommandOptions {
  /** What it reads from standard input. @default nothing */
  readonly input?: string;
  /** @default this process's */
  readonly cwd?: string;
}

const LARGEST_OUTPUT = 64 * 1_048_576;

/** Runs a program to its end; one that is not there ends like one that failed. */
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
    // A program that ends before it has read everything is judged by its exit code.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

/** An object as the API server gives it, as far as it is looked into. */
export interface ClusterObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly status?: object;
}

/** kubectl, for one namespace of the cluster that KUBECONFIG names. */
export class Kubectl {
  readonly #namespace: string;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** Runs it and leaves the judgement of its exit code to the caller. */
  run(args: readonly string[], input = ''): Promise<Finished> {
    return runCommand('kubectl', ['--namespace', this.#namespace, ...args], { input });
  }

  /**
   * @returns what it wrote
   * @throws ExplainedError with kubectl's own words when it fails
   */
  async text(...args: readonly string[]): Promise<string> {
    return this.#judged(args, await this.run(args));
  }

  /** Applies an object server-side. @throws ExplainedError with kubectl's own words when it fails */
  async apply(manifest: object): Promise<void> {
    const args = ['apply', '--server-side', '--filename', '-'];
    this.#judged(args, await this.run(args, JSON.stringify(manifest)));
  }

  /** The objects of the files in a folder, as they are in the cluster. @throws ExplainedError when one is missing */
  async objects(folder: string): Promise<readonly ClusterObject[]> {
    const list = JSON.parse(await this.text('get', '--filename', folder, '--output', 'json')) as {
      items: ClusterObject[];
    };
    return list.items;
  }

  #judged(args: readonly string[], { code, stdout, stderr }: Finished): string {
    if (code !== 0) {
      throw new ExplainedError(`kubectl ${args.join(' ')} ended with ${code}: ${stderr.trim() || stdout.trim()}`);
    }
    return stdout;
  }
}
