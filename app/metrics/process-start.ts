import { performance } from 'node:perf_hooks';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import { type MetricSources, optional, single } from './metric-source.ts';

type StartMetrics = Pick<
  MetricSources,
  'startTime' | 'uptime' | 'runtimeInfo' | 'applicationStarted' | 'applicationReady'
>;

const RUNTIME = { runtime: 'Node.js', vendor: 'OpenJS Foundation', version: process.version };
const APPLICATION = { main_application_class: PRODUCT_NAME };

/** Start of the process, its runtime, and the seconds that the start took; these have no series before its end. */
export class ProcessStart {
  #started: number | null = null;
  #ready: number | null = null;

  /** The HTTP interface listens. */
  started(): void {
    this.#started ??= process.uptime();
  }

  /** The consumer does its work from now on. */
  ready(): void {
    this.#ready ??= process.uptime();
  }

  get sources(): StartMetrics {
    return {
      startTime: single(() => performance.timeOrigin / 1_000),
      uptime: single(() => process.uptime()),
      runtimeInfo: single(() => 1, RUNTIME),
      applicationStarted: optional(() => this.#started, APPLICATION),
      applicationReady: optional(() => this.#ready, APPLICATION),
    };
  }
}
