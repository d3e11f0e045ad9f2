/** `npm run mutate`: changes the core in small ways, and checks that a test notices each change. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { KNOWN_MUTANTS, type KnownMutant } from './mutate/known-mutants.ts';
import { CORE_ROOMS, isOfCore, type MutationReport, scoreLines, weakPlaces } from './mutate/mutation-score.ts';
import { ExplainedError } from './run/explained-error.ts';
import { exitCodeOf } from './run/interruption.ts';
import type { RunFolder } from './run/run-folder.ts';
import { Screen } from './run/screen.ts';
import { prepareCluster } from './stack/local-postgres.ts';
import { startStack } from './stack/local-stack.ts';

const REPOSITORY = resolve(import.meta.dirname, '..');
const JEST = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
const JEST_CONFIG = ['--config', 'dev/mutate/jest.config.mjs'];
const STRYKER = ['node_modules/@stryker-mutator/core/bin/stryker.js', 'run', 'dev/mutate/stryker.config.mjs'];
const REPORT = 'build/mutation/report.json';
const EXIT_USAGE = 2;

const CORE = new Intl.ListFormat('en-GB').format(CORE_ROOMS);

const HELP = `Changes the core in small ways, and looks whether a test notices each of them.

  npm run mutate                                 all of ${CORE}: hours on two cores
  npm run mutate -- --known                      only the changes that are listed in dev/mutate/known-mutants.ts: a minute
  npm run mutate -- app/stream/pipeline.ts ...   every change of these files

It starts a new PostgreSQL. What survives is in ${REPORT}; why, in docs/verification.md.

Exit codes: 0 enough of what was changed was noticed: each listed change, and of the others 90 % in each file that holds
the guarantee and in each of the ${CORE_ROOMS.length} folders, as far as its files were changed; 1 not so; 2 wrong options; 130 (143) when
Ctrl-C (SIGTERM) came before the end.
`;

async function main(args: readonly string[]): Promise<number> {
  const options = { known: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help === true) {
      process.stdout.write(HELP);
      return 0;
    }
    requireCoreFiles(positionals);
    if (values.known === true && positionals.length > 0) {
      throw new Error('--known changes what is listed, and takes no files: leave one of them out');
    }
    return await mutate(values.known === true, positionals, new Screen(process.stdout));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nnpm run mutate -- --help shows all options.\n`);
    return EXIT_USAGE;
  }
}

/** @throws Error when the tests that are run would not notice a change of one of the files, or there is no such file */
function requireCoreFiles(files: readonly string[]): void {
  for (const file of files) {
    if (!isOfCore(file) || !existsSync(resolve(REPOSITORY, file))) {
      throw new Error(`"${file}" is no file of ${CORE}, such as app/stream/pipeline.ts`);
    }
  }
}

const mutate = (knownOnly: boolean, files: readonly string[], screen: Screen): Promise<number> =>
  exitCodeOf(screen, async (run) => {
    const cluster = await prepareCluster(run);
    const { postgres } = await startStack({ run, parts: ['postgres'], postgres: { copyOf: cluster } });
    const env = {
      ...process.env,
      STREAM_CONSUMER_TEST_DATABASE_URL: postgres?.urlWithPassword,
      STREAM_CONSUMER_TEST_RUN_FOLDER: run.path,
      STREAM_CONSUMER_TEST_NEW_CLUSTER: cluster.data,
    };
    const areKnownOnesDead = files.length > 0 || (await killKnownMutants(run, env, screen));
    return areKnownOnesDead && (knownOnly || (await killAllMutants(run, env, files, screen)));
  });

async function killKnownMutants(run: RunFolder, env: NodeJS.ProcessEnv, screen: Screen): Promise<boolean> {
  let survivors = 0;
  for (const mutant of KNOWN_MUTANTS) {
    screen.status(`${mutant.name} ...`);
    const isDead = await isNoticed(run, env, mutant);
    survivors += isDead ? 0 : 1;
    screen.line(`${screen.tint(isDead ? 'noticed ' : 'SURVIVED', isDead)}  ${mutant.name}`);
  }
  screen.endStatus();
  screen.line(`${KNOWN_MUTANTS.length - survivors} of ${KNOWN_MUTANTS.length} listed changes noticed`);
  return survivors === 0;
}

/** @throws Error when the change cannot be made, or what it makes does not run */
async function isNoticed(run: RunFolder, env: NodeJS.ProcessEnv, mutant: KnownMutant): Promise<boolean> {
  if (readFileSync(resolve(REPOSITORY, mutant.file), 'utf8').split(mutant.original).length !== 2) {
    throw new Error(`${mutant.file} does not have this piece once: ${mutant.original}`);
  }
  const results = join(run.path, 'known-mutant.json');
  const { output } = await run.complete({
    program: process.execPath,
    args: [...JEST, ...JEST_CONFIG, '--json', '--outputFile', results, '--findRelatedTests', mutant.file],
    cwd: REPOSITORY,
    env: { ...env, MUTANT: JSON.stringify(mutant) },
  });
  const { numTotalTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(
    readFileSync(results, 'utf8'),
  ) as Record<'numTotalTests' | 'numFailedTests' | 'numRuntimeErrorTestSuites', number>;
  if (numTotalTests === 0 || numRuntimeErrorTestSuites > 0) {
    throw new Error([`"${mutant.name}" does not run:`, ...output].join('\n'));
  }
  return numFailedTests > 0;
}

async function killAllMutants(
  run: RunFolder,
  env: NodeJS.ProcessEnv,
  files: readonly string[],
  screen: Screen,
): Promise<boolean> {
  const chosen = files.length === 0 ? [] : ['--mutate', files.join(',')];
  const { code, output } = await run.complete({
    program: process.execPath,
    args: [...STRYKER, ...chosen],
    cwd: REPOSITORY,
    env,
    onLine: (line) => screen.status(line),
  });
  screen.endStatus();
  if (code !== 0) {
    throw new ExplainedError(['Stryker failed:', ...output].join('\n'));
  }
  const report = JSON.parse(readFileSync(resolve(REPOSITORY, REPORT), 'utf8')) as MutationReport;
  for (const line of scoreLines(report)) {
    screen.line(line);
  }
  return weakPlaces(report).length === 0;
}

process.exit(await main(process.argv.slice(2)));
