import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from '../../../dev/run/free-port.ts';
import { LogLines } from '../../../dev/run/log-lines.ts';
import { testRun } from './test-run.ts';
import { until } from './until.ts';

/** One series that a query found. */
interface Found {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** One series that a query found over a time. */
export interface FoundRange {
  readonly metric: Readonly<Record<string, string>>;
  /** Seconds since the epoch, and the value. */
  readonly values: readonly (readonly [number, string])[];
}

/** A time and the steps in it, in seconds. */
export interface TimeRange {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** An alert as Prometheus has it now. */
interface ActiveAlert {
  readonly state: 'pending' | 'firing';
  readonly labels: Readonly<Record<string, string>>;
}

/** A running Prometheus. */
export interface PrometheusServer {
  /** The series that a query finds now. @throws Error when Prometheus refuses the query */
  query(expression: string): Promise<readonly Found[]>;
  /** The series that a query finds over a time. @throws Error when Prometheus refuses the query */
  queryRange(expression: string, range: TimeRange): Promise<readonly FoundRange[]>;
  /** The alerts that are pending or firing now. */
  alerts(): Promise<readonly ActiveAlert[]>;
}

/** What Prometheus reads, in its own words. */
interface PrometheusFiles {
  readonly scrapeConfigs: readonly unknown[];
  /** Text of a rule file. @default none */
  readonly rules?: string;
  /** `host:port` of an Alertmanager. @default none */
  readonly alertmanager?: string;
}

/** Starts Prometheus, which scrapes once a second unless a job says otherwise; it ends with the test file. */
export async function startPrometheus(files: PrometheusFiles): Promise<PrometheusServer> {
  const run = await testRun();
  const folder = await mkdtemp(join(run.path, 'prometheus-'));
  const targets = files.alertmanager === undefined ? [] : [{ static_configs: [{ targets: [files.alertmanager] }] }];
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    rule_files: files.rules === undefined ? [] : ['rules.yml'],
    alerting: { alertmanagers: targets },
    scrape_configs: files.scrapeConfigs,
  };
  await writeFile(join(folder, 'prometheus.yml'), stringify(config));
  await writeFile(join(folder, 'rules.yml'), files.rules ?? '');
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
  const ask = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`http://${address}/api/v1/${path}`);
    const body = (await answer.json()) as { status: string; error?: string; data: T };
    if (body.status !== 'success') {
      throw new Error(`${path}: ${body.error}`);
    }
    return body.data;
  };
  const query = async (expression: string) =>
    (await ask<{ result: readonly Found[] }>(`query?query=${encodeURIComponent(expression)}`)).result;
  await until('Prometheus to have scraped every target three times', async () => {
    const [fewest] = await query('min(count_over_time(up[1m]))');
    return Number(fewest?.value[1] ?? 0) >= 3 && (await query('up == 0')).length === 0 ? true : undefined;
  });
  const queryRange = async (expression: string, { start, end, step }: TimeRange) => {
    const asked = `query=${encodeURIComponent(expression)}&start=${start}&end=${end}&step=${step}`;
    return (await ask<{ result: readonly FoundRange[] }>(`query_range?${asked}`)).result;
  };
  return { query, queryRange, alerts: async () => (await ask<{ alerts: readonly ActiveAlert[] }>('alerts')).alerts };
}
