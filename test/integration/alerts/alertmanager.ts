import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse, stringify } from 'yaml';
import { freePort } from '../../../dev/run/free-port.ts';
import { testRun } from '../stack/test-run.ts';
import { until } from '../stack/until.ts';

/** An alert as Alertmanager hands it to a receiver. */
export interface Notification {
  readonly status: 'firing' | 'resolved';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A running Alertmanager with a receiver for everything. */
export interface Alertmanager {
  /** `host:port`. */
  readonly address: string;
  /** What the receiver got so far. */
  readonly received: readonly Notification[];
}

/** What Alertmanager posts, by its webhook's documentation. */
interface Post {
  readonly alerts: readonly Notification[];
}

/** A receiver of webhooks. */
async function startReceiver(received: Notification[]) {
  const server = createServer(async (request, response) => {
    received.push(...(JSON.parse(await text(request)) as Post).alerts);
    response.end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Starts Alertmanager with the inhibitions of docs/examples; it notifies at once, and both end with the test file. */
export async function startAlertmanager(): Promise<Alertmanager> {
  const received: Notification[] = [];
  const receiver = await startReceiver(received);
  const run = await testRun();
  run.beforeClose(async () => receiver.close());
  const folder = await mkdtemp(join(run.path, 'alertmanager-'));
  const inhibition = parse(await readFile('docs/examples/alertmanager/inhibition.yml', 'utf8')) as object;
  const route = { receiver: 'all', group_by: ['...'], group_wait: '0s', group_interval: '1s', repeat_interval: '1h' };
  const receivers = [{ name: 'all', webhook_configs: [{ url: receiver.url, send_resolved: true }] }];
  await writeFile(join(folder, 'alertmanager.yml'), stringify({ route, receivers, ...inhibition }));
  const address = `127.0.0.1:${await freePort()}`;
  await run.spawn({
    program: 'prometheus-alertmanager',
    args: [
      `--config.file=${folder}/alertmanager.yml`,
      `--storage.path=${folder}/data`,
      `--web.listen-address=${address}`,
      '--cluster.listen-address=',
    ],
    cwd: folder,
    env: { PATH: process.env['PATH'] },
  });
  await until('Alertmanager to be ready', async () =>
    (await fetch(`http://${address}/-/ready`)).ok ? true : undefined,
  );
  return { address, received };
}
