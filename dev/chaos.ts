import { CHAOS_HELP, type ChaosOptions, readChaosOptions } from './chaos/options.ts';
import { keepLogs, runChaos } from './chaos/run-chaos.ts';
import { failureText } from './run/explained-error.ts';
import { beginRun } from './run/interruption.ts';
import type { RunFolder } from './run/run-folder.ts';
import { Screen } from './run/screen.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  const read = readChaosOptions(args);
  if (read.kind === 'help') {
    process.stdout.write(CHAOS_HELP);
    return 0;
  }
  if (read.kind === 'problems') {
    process.stderr.write(`${read.problems.join('\n')}\nnpm run chaos -- --help shows all options.\n`);
    return EXIT_USAGE;
  }
  return breakAndJudge(read.options, new Screen(process.stdout));
}

async function breakAndJudge(options: ChaosOptions, screen: Screen): Promise<number> {
  const { run, interruption } = await beginRun(screen, 'stopping');
  const work = runChaos(run, options, screen, interruption.signal);
  try {
    const isWell = await interruption.orInterrupted(work);
    if (isWell === undefined) {
      return interruption.exitCode ?? EXIT_FAILED;
    }
    screen.line(screen.tint(isWell ? 'Each record was written exactly once.' : 'The verdict: it failed.', isWell));
    return isWell ? 0 : failed(run, options, screen);
  } catch (error) {
    process.stderr.write(`${failureText(error)}\n`);
    return failed(run, options, screen);
  } finally {
    work.catch(() => undefined);
    await run.close();
    interruption.dispose();
  }
}

function failed(run: RunFolder, { seed, groupProtocol }: ChaosOptions, screen: Screen): number {
  const again = `--seed ${seed} --group-protocol ${groupProtocol}`;
  screen.line(`The logs are kept in ${keepLogs(run.path)}; the same faults again: ${again}`);
  return EXIT_FAILED;
}
