import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ExplainedError } from '../run/explained-error.ts';

const OLDEST_JAVA = 17;
/** Debian's names; its default runtime is Java 17 in Debian 12 and a later one after it. */
const PACKAGE = { java: 'default-jre-headless', maven: 'maven' } as const;

const REMEDIES = `A local Kafka needs Java >= ${OLDEST_JAVA} and, to fetch its jars once, Maven. One of these helps:
  - install them:
      Debian, Ubuntu: sudo apt-get install ${PACKAGE.java} ${PACKAGE.maven}
      Fedora:         sudo dnf install java-latest-openjdk-headless maven
      macOS:          brew install openjdk maven, then export JAVA_HOME="$(brew --prefix openjdk)"
  - use brokers that you have, and a database too where you like (without one PostgreSQL comes from npm, and needs neither):
      npm start -- --kafka HOST:PORT --database postgresql://USER:PASSWORD@HOST:PORT/DATABASE
  - run Kafka and PostgreSQL in containers: docker compose -f dev/compose.yaml up --wait, then
      npm start -- --kafka 127.0.0.1:9092 --database postgresql://postgres:postgres@127.0.0.1:5432/postgres`;

type Tool = keyof typeof PACKAGE;

export interface PrerequisitesOptions {
  /** Whether the jars are already there, so that Maven has nothing to do. */
  readonly hasJars: boolean;
  /** Called before packages are installed. */
  readonly onProgress: (message: string) => void;
  /** @default whether this process is root */
  readonly isRoot?: boolean;
}

/**
 * Makes sure that Java and, where jars have to be fetched, Maven can be run. As root it installs a missing one by
 * apt-get, where the system has that.
 *
 * @throws ExplainedError with the missing programs and three remedies.
 */
export async function ensurePrerequisites(options: PrerequisitesOptions): Promise<void> {
  const missing = await missingTools(options.hasJars);
  if (missing.length === 0) {
    return;
  }
  const isRoot = options.isRoot ?? process.getuid?.() === 0;
  const list = missing.map(({ problem }) => problem).join('; ');
  if (!isRoot || (await run('apt-get', ['--version'])).code !== 0) {
    throw new ExplainedError(`${list}.\n${REMEDIES}`);
  }
  const packages = missing.map(({ tool }) => PACKAGE[tool]);
  options.onProgress(`${list}: installing ${packages.join(' and ')} by apt-get, about a minute`);
  await install(packages);
  const still = await missingTools(options.hasJars);
  if (still.length > 0) {
    throw new ExplainedError(`Even after apt-get: ${still.map(({ problem }) => problem).join('; ')}.\n${REMEDIES}`);
  }
}

/** The program to run Java with: that of `JAVA_HOME` where it is set, else the one in the path. */
export function javaProgram(): string {
  const home = process.env['JAVA_HOME'];
  const program = home ? join(home, 'bin', 'java') : 'java';
  return home && existsSync(program) ? program : 'java';
}

async function missingTools(hasJars: boolean): Promise<readonly { tool: Tool; problem: string }[]> {
  const missing: { tool: Tool; problem: string }[] = [];
  const java = await javaProblem();
  if (java !== undefined) {
    missing.push({ tool: 'java', problem: java });
  }
  // Without Java, Maven cannot even print its version: that it starts is enough.
  const maven = hasJars ? undefined : await run('mvn', ['--version']);
  if (maven !== undefined && (maven.code === undefined || (java === undefined && maven.code !== 0))) {
    missing.push({ tool: 'maven', problem: 'Maven (mvn) was not found' });
  }
  return missing;
}

async function javaProblem(): Promise<string | undefined> {
  const { code, output } = await run(javaProgram(), ['-version']);
  const [, major] = /version "(?:1\.)?(\d+)/.exec(output) ?? [];
  if (code !== 0 || major === undefined) {
    return 'Java was not found';
  }
  return Number(major) < OLDEST_JAVA ? `Java ${major} is too old: at least ${OLDEST_JAVA} is needed` : undefined;
}

async function install(packages: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const update = await run('apt-get', ['update'], env);
  const { code, output } = await run('apt-get', ['install', '--yes', '--no-install-recommends', ...packages], env);
  if (code !== 0) {
    const said = `${update.code === 0 ? '' : update.output}${output}`.trim().split('\n').slice(-8);
    throw new ExplainedError(
      [`apt-get could not install ${packages.join(' and ')}:`, ...said.map((line) => `    ${line}`), REMEDIES].join(
        '\n',
      ),
    );
  }
}

/** Runs a program to its end; the code is undefined when it cannot be started. */
function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  return new Promise<{ code: number | null | undefined; output: string }>((resolve) => {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', () => resolve({ code: undefined, output }));
    child.once('close', (code) => resolve({ code, output }));
  });
}
