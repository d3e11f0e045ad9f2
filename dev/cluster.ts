/** `npm run test:cluster`: what the manifests do in a real cluster. */
import { type ClusterOptions, readClusterRequest } from './cluster/options.ts';
import { Protocol } from './cluster/protocol.ts';
import { runClusterTest } from './cluster/run-cluster-test.ts';
import { failureText } from './run/failure-text.ts';
import { removeLeftoverRuns } from './run/leftover-runs.ts';
import { RunFolder } from './run/run-folder.ts';
import { listenForInterruption } from './start/interruption.ts';
import { Screen } from './start/screen.ts';

const EXIT_FAILED = 1;

process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  const request = readClusterRequest(args, process.env);
  if (request.kind === 'test') {
    return test(request.options, new Screen(process.stdout));
  }
  process.stdout.write(request.stdout ?? '');
  process.stderr.write(request.stderr ?? '');
  return request.code;
}

async function test(options: ClusterOptions, screen: Screen): Promise<number> {
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
  const work = runClusterTest(run, options, protocol, screen).then(() => true);
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
