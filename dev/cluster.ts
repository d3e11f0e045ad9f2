/** `npm run test:cluster`: what the manifests do in a real cluster. */

import { Protocol } from './cluster/check-results.ts';
import { type ClusterOptions, readClusterRequest } from './cluster/options.ts';
import { runClusterTest } from './cluster/run-cluster-test.ts';
import { exitCodeOf } from './run/interruption.ts';
import { Screen } from './run/screen.ts';

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
  const protocol = new Protocol(screen);
  return exitCodeOf(screen, async (run) => {
    await runClusterTest(run, options, protocol, screen);
    screen.line(`${protocol.failures} failed, ${protocol.skipped} skipped`);
    return protocol.failures === 0;
  });
}
