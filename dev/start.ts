import { failureText } from './run/explained-error.ts';
import { beginRun, type Interruption } from './run/interruption.ts';
import { Screen } from './run/screen.ts';
import { prepareJob } from './start/job.ts';
import { readOptions, START_HELP, type StartOptions } from './start/options.ts';
import { runContinuously, runOnce } from './start/run-job.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  const read = readOptions(args);
  if (read.kind === 'help') {
    process.stdout.write(START_HELP);
    return 0;
  }
  if (read.kind === 'problems') {
    process.stderr.write(`${read.problems.join('\n')}\nnpm start -- --help shows all options.\n`);
    return EXIT_USAGE;
  }
  return startAndStop(read.options, new Screen(process.stdout));
}

async function startAndStop(options: StartOptions, screen: Screen): Promise<number> {
  const { run, interruption } = await beginRun(screen, 'stopping; the consumer finishes what it has fetched');
  const work = prepareJob(run, options, screen).then((job) =>
    options.once ? runOnce(job, screen, interruption.signal) : runContinuously(run, job, screen, interruption.signal),
  );
  try {
    const code = await interruption.orInterrupted(work);
    await run.close();
    return code ?? afterInterruption(options, interruption);
  } catch (error) {
    screen.endStatus();
    process.stderr.write(`${failureText(error)}\n`);
    await run.close();
    return EXIT_FAILED;
  } finally {
    interruption.dispose();
    work.catch(() => undefined);
    screen.line('stopped');
  }
}

/** Ctrl-C is the usual end of an endless run. With `--once` it came before the verdict: the exit code says so to CI. */
function afterInterruption(options: StartOptions, { exitCode }: Interruption): number {
  return options.once && exitCode !== undefined ? exitCode : 0;
}
