import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from '../../../dev/run/free-port.ts';
import { LogLines } from '../../../dev/run/log-lines.ts';
import { testRun } from '../stack/test-run.ts';
import { until } from '../stack/until.ts';

/** One series that a query found. */
interface Found {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** A Prometheus that scrapes one target once a second. */
export interface PrometheusServer {
  /** The series that a query finds now. @throws Error when Prometheus refuses the query */
  query(expression: string): Promise<readonly Found[]>;
}

interface Scrape {
  readonly port: number;
  readonly path: string;
}

/** Starts Prometheus over a target and waits until it was scraped a few times; it ends with the test file. */
export async function startPrometheus({ port, path }: Scrape): Promise<PrometheusServer> {
  const run = await testRun();
  const folder = await mkdtemp(join(run.path, 'prometheus-'));
  const job = { job_name: 'consumer', metrics_path: path, static_configs: [{ targets: [`127.0.0.1:${port}`] }] };
  const config = { global: { scrape_interval: '1s', scrape_timeout: '1s' }, scrape_configs: [job] };
  await writeFile(join(folder, 'prometheus.yml'), stringify(config));
  const address = `127.0.0.1:${await freePort()}`;
  const logs = new LogLines();
  await run.spawn({
    program: 'prometheus',
    args: [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=${address}`,
    ],
    cwd: folder,
    env: { PATH: process.env['PATH'] },
    onLine: (line) => logs.add(line),
  });
  const query = async (expression: string): Promise<readonly Found[]> => {
    const answer = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const body = (await answer.json()) as { status: string; error?: string; data: { result: readonly Found[] } };
    if (body.status !== 'success') {
      throw new Error(`${expression}: ${body.error}`);
    }
    return body.data.result;
  };
  await until('Prometheus to have scraped the target three times', async () => {
    const [scrapes] = await query('count_over_time(up{job="consumer"}[1m]) and up{job="consumer"} == 1');
    return Number(scrapes?.value[1] ?? 0) >= 3 ? true : undefined;
  });
  return { query };
}
