/** `npm run test:cluster`: what the manifests do in a real cluster. */
import { CLUSTER_HELP, readClusterOptions } from './cluster/options.ts';
import { Protocol } from './cluster/protocol.ts';
import { runClusterTest } from './cluster/run-cluster-test.ts';
import { failureText } from './run/failure-text.ts';
import { removeLeftoverRuns } from './run/leftover-runs.ts';
import { RunFolder } from './run/run-folder.ts';
import { listenForInterruption } from './start/interruption.ts';
import { Screen } from './start/screen.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  if (args.length > 0) {
    const isHelp = args.every((arg) => arg === '--help' || arg === '-h');
    (isHelp ? process.stdout : process.stderr).write(
      isHelp ? CLUSTER_HELP : `unknown: ${args.join(' ')}\n\n${CLUSTER_HELP}`,
    );
    return isHelp ? 0 : EXIT_USAGE;
  }
  const screen = new Screen(process.stdout);
  if (!process.env['KUBECONFIG']) {
    screen.line('SKIPPED: KUBECONFIG names no cluster, so nothing was tested (npm run test:cluster -- --help)');
    return 0;
  }
  return test(screen);
}

async function test(screen: Screen): Promise<number> {
  await removeLeftoverRuns();
  const run = await RunFolder.create();
  const interruption = listenForInterruption(
    () => screen.line('stopping (Ctrl-C again ends all at once) ...'),
    (exitCode) => {
      run.abandon();
      process.exit(exitCode);
    },
  );
  const protocol = new Protocol(screen);
  const work = runClusterTest(run, readClusterOptions(process.env), protocol, screen).then(() => true);
  try {
    if ((await interruption.orInterrupted(work)) === undefined) {
      return interruption.exitCode ?? EXIT_FAILED;
    }
    screen.line(`${protocol.failures} failed, ${protocol.skipped} skipped`);
    return protocol.failures === 0 ? 0 : EXIT_FAILED;
  } catch (error) {
    process.stderr.write(`${failureText(error)}\n`);
    return EXIT_FAILED;
  } finally {
    work.catch(() => undefined);
    await run.close();
    interruption.dispose();
  }
}
