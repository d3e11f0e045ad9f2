/** `npm run test:cluster`: what the manifests do in a real cluster. */
import { type ClusterOptions, readClusterRequest } from './cluster/options.ts';
import { Protocol } from './cluster/protocol.ts';
import { runClusterTest } from './cluster/run-cluster-test.ts';
import { failureText } from './run/failure-text.ts';
import { beginRun } from './start/begin-run.ts';
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
  const { run, interruption } = await beginRun(screen, 'stopping');
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
