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
export interface ActiveAlert {
  readonly state: 'pending' | 'firing';
  readonly labels: Readonly<Record<string, string>>;
}

/** A running Prometheus. */
export interface PrometheusServer {
  /** Where it answers. */
  readonly url: string;
  /** The series that a query finds now. @throws Error when Prometheus refuses the query */
  query(expression: string): Promise<readonly Found[]>;
  /** The series that a query finds over a time. @throws Error when Prometheus refuses the query */
  queryRange(expression: string, range: TimeRange): Promise<readonly FoundRange[]>;
  /** The alerts that are pending or firing now. */
  alerts(): Promise<readonly ActiveAlert[]>;
  /** Replaces the scrape jobs. @throws Error when Prometheus refuses them */
  scrape(scrapeConfigs: readonly unknown[]): Promise<void>;
}

/** What Prometheus reads, in its own words. */
interface PrometheusFiles {
  readonly scrapeConfigs: readonly unknown[];
  /** Text of a rule file. @default none */
  readonly rules?: string;
  /** `host:port` of an Alertmanager. @default none */
  readonly alertmanager?: string;
}

function configuration({ scrapeConfigs, rules, alertmanager }: PrometheusFiles): string {
  const targets = alertmanager === undefined ? [] : [{ static_configs: [{ targets: [alertmanager] }] }];
  return stringify({
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    rule_files: rules === undefined ? [] : ['rules.yml'],
    alerting: { alertmanagers: targets },
    scrape_configs: scrapeConfigs,
  });
}

async function ask<T>(address: string, path: string): Promise<T> {
  const answer = await fetch(`http://${address}/api/v1/${path}`);
  const body = (await answer.json()) as { status: string; error?: string; data: T };
  if (body.status !== 'success') {
    throw new Error(`${path}: ${body.error}`);
  }
  return body.data;
}

async function reload(address: string): Promise<void> {
  const answer = await fetch(`http://${address}/-/reload`, { method: 'POST' });
  if (!answer.ok) {
    throw new Error(`Prometheus refuses the scrape jobs: ${await answer.text()}`);
  }
}

/** Starts Prometheus, which scrapes once a second unless a job says otherwise; it ends with the test file. */
export async function startPrometheus(files: PrometheusFiles): Promise<PrometheusServer> {
  const run = await testRun();
  const folder = await mkdtemp(join(run.path, 'prometheus-'));
  const configure = (scrapeConfigs: readonly unknown[]) =>
    writeFile(join(folder, 'prometheus.yml'), configuration({ ...files, scrapeConfigs }));
  await configure(files.scrapeConfigs);
  await writeFile(join(folder, 'rules.yml'), files.rules ?? '');
  const address = `127.0.0.1:${await freePort()}`;
  const logs = new LogLines();
  await run.spawn({
    program: 'prometheus',
    args: [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=${address}`,
      '--web.enable-lifecycle',
    ],
    cwd: folder,
    env: { PATH: process.env['PATH'] },
    onLine: (line) => logs.add(line),
  });
  const query = async (expression: string) =>
    (await ask<{ result: readonly Found[] }>(address, `query?query=${encodeURIComponent(expression)}`)).result;
  await until('Prometheus to have scraped every target three times', async () => {
    const [fewest] = await query('min(count_over_time(up[1m]))');
    return Number(fewest?.value[1] ?? 0) >= 3 && (await query('up == 0')).length === 0 ? true : undefined;
  });
  return {
    url: `http://${address}`,
    query,
    queryRange: async (expression, { start, end, step }) => {
      const asked = `query=${encodeURIComponent(expression)}&start=${start}&end=${end}&step=${step}`;
      return (await ask<{ result: readonly FoundRange[] }>(address, `query_range?${asked}`)).result;
    },
    alerts: async () => (await ask<{ alerts: readonly ActiveAlert[] }>(address, 'alerts')).alerts,
    scrape: async (scrapeConfigs) => {
      await configure(scrapeConfigs);
      await reload(address);
    },
  };
}
