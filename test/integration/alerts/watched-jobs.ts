import { spawnSync } from 'node:child_process';
import { parse } from 'yaml';
import { prometheusFiles } from '../../../monitoring/prometheus-files.ts';
import { exampleWorkload } from '../../charts/example-consumer.ts';
import { type ActiveAlert, type PrometheusServer, startPrometheus } from '../stack/prometheus-server.ts';
import { until } from '../stack/until.ts';
import { type Alertmanager, type Notification, startAlertmanager } from './alertmanager.ts';

/** Every time in the rules and in the scrape job is this many times shorter; the consumer's own times are its own. */
const TIMES_SHORTER = 15;

const TOLD_WITHIN_MS = 180_000;

const MISSING = ['prometheus', 'prometheus-alertmanager'].filter(
  (program) => spawnSync(program, ['--version']).error !== undefined,
);

/** Whether alerts can be seen to fire here; in CI they have to. */
export const canWatch = MISSING.length === 0 || process.env['CI'] === 'true';

if (!canWatch) {
  process.stderr.write(`not installed, so that no alert is seen to fire (Debian: apt-get install): ${MISSING}\n`);
}

const MILLISECONDS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

const shorter = (amount: string, unit: keyof typeof MILLISECONDS): string =>
  `${Math.round((Number(amount) * MILLISECONDS[unit]) / TIMES_SHORTER)}ms`;

/** Shortens what stands in brackets, in `for`, `keep_firing_for`, `interval` and `timeout`, and the age of a process. */
const scaled = (text: string): string =>
  text
    .replaceAll(/\[(\d+)([smh])\]/g, (_, amount, unit) => `[${shorter(amount, unit)}]`)
    .replaceAll(/(for|interval|timeout): (\d+)([smh])$/gm, (_, key, amount, unit) => `${key}: ${shorter(amount, unit)}`)
    .replaceAll(
      /(process_uptime_seconds\{[^}]*\}) < (\d+)/g,
      (_, age, amount) => `${age} < ${Number(amount) / TIMES_SHORTER}`,
    );

/** A consumer that Prometheus scrapes: its name in consumer.yaml is the job. */
export interface WatchedJob {
  readonly name: string;
  readonly port: number;
  /** What consumer.yaml says beside name and target. @default nothing */
  readonly file?: object;
}

/** Rules and scrape job of a consumer, as synth writes them, with the port at which it listens. */
function synthesized({ name, port, file = {} }: WatchedJob) {
  const monitoring = { staticTargets: [`127.0.0.1:${port}`] };
  const files = prometheusFiles(exampleWorkload({ ...file, name, monitoring }));
  const text = (of: string) => scaled(files.get(of) ?? '');
  const { scrape_configs } = parse(text('scrape.yml')) as { scrape_configs: readonly object[] };
  return { scrapeConfigs: scrape_configs, groups: text('rules.yml').replace(/^[\s\S]*?groups:\n/, '') };
}

/** What a busy machine may make pending for minutes. */
const BY_LOAD = /^(EventLoopBlocked|MemoryHigh)$/;

/** Prometheus and Alertmanager with the rules and scrape jobs of some consumers, and what they tell. */
export class Watch {
  readonly prometheus: PrometheusServer;
  readonly #alertmanager: Alertmanager;
  readonly #jobs: readonly WatchedJob[];

  private constructor(jobs: readonly WatchedJob[], prometheus: PrometheusServer, alertmanager: Alertmanager) {
    this.#jobs = jobs;
    this.prometheus = prometheus;
    this.#alertmanager = alertmanager;
  }

  /** Starts both; then each consumer was scraped three times, and no alert is pending or firing but by a busy machine. */
  static async start(jobs: readonly WatchedJob[]): Promise<Watch> {
    const alertmanager = await startAlertmanager();
    const rendered = jobs.map(synthesized);
    const prometheus = await startPrometheus({
      scrapeConfigs: rendered.flatMap(({ scrapeConfigs }) => scrapeConfigs),
      rules: `groups:\n${rendered.map(({ groups }) => groups).join('')}`,
      alertmanager: alertmanager.address,
    });
    await until('no alert that is awaited', async () =>
      (await prometheus.alerts()).every(({ labels }) => BY_LOAD.test(labels['alertname'] ?? '')) ? true : undefined,
    );
    return new Watch(jobs, prometheus, alertmanager);
  }

  /**
   * From now on the job has no target, as when all its Pods are gone, or has it again. The job itself stays: Prometheus
   * remembers the targets of one that is taken out for five minutes more.
   */
  async hasTarget(name: string, isThere: boolean): Promise<void> {
    const jobs = this.#jobs.flatMap((job) =>
      synthesized(job).scrapeConfigs.map((config) =>
        isThere || job.name !== name ? config : { ...config, static_configs: [] },
      ),
    );
    await this.prometheus.scrape(jobs);
  }

  /** What the receiver was last told of an alert of a consumer. */
  told(job: string, alert: string, severity = 'critical'): Notification | undefined {
    return this.#alertmanager.received.findLast(
      ({ labels }) => labels['job'] === job && labels['alertname'] === alert && labels['severity'] === severity,
    );
  }

  /** Prometheus has the alert in a state. */
  is(expected: ActiveAlert['state'], job: string, alert: string): Promise<ActiveAlert> {
    const find = async () =>
      (await this.prometheus.alerts()).find(
        ({ state, labels }) => state === expected && labels['job'] === job && labels['alertname'] === alert,
      );
    return until(`${alert} of ${job} to be ${expected}`, find, TOLD_WITHIN_MS);
  }

  /** The receiver is told that the alert fires, or that it is resolved. */
  tells(status: Notification['status'], job: string, alert: string, severity?: string): Promise<Notification> {
    const find = async () => {
      const told = this.told(job, alert, severity);
      return told?.status === status ? told : undefined;
    };
    return until(`${alert} of ${job} to be ${status} at the receiver`, find, TOLD_WITHIN_MS);
  }
}
