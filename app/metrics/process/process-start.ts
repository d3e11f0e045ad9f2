import { performance } from 'node:perf_hooks';
import { shortCommit } from '../../../contract/build-info.ts';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { type MetricSources, optional, single } from '../exposition/metric-source.ts';
import type { ProductBuild } from './product-build.ts';

type StartMetrics = Pick<
  MetricSources,
  'startTime' | 'uptime' | 'runtimeInfo' | 'buildInfo' | 'applicationStarted' | 'applicationReady'
>;

const RUNTIME = { runtime: 'Node.js', vendor: 'OpenJS Foundation', version: process.version };
const APPLICATION = { main_application_class: PRODUCT_NAME };

/** Start of the process, its runtime and build, and the seconds that the start took; these have no series before its end. */
export class ProcessStart {
  readonly #build: Pick<ProductBuild, 'version' | 'commit'>;
  #started: number | null = null;
  #ready: number | null = null;

  constructor(build: Pick<ProductBuild, 'version' | 'commit'>) {
    this.#build = build;
  }

  /** The HTTP interface listens. */
  started(): void {
    this.#started ??= process.uptime();
  }

  /** The consumer does its work from now on. */
  ready(): void {
    this.#ready ??= process.uptime();
  }

  get sources(): StartMetrics {
    const { version, commit } = this.#build;
    return {
      startTime: single(() => performance.timeOrigin / 1_000),
      uptime: single(() => process.uptime()),
      runtimeInfo: single(() => 1, RUNTIME),
      buildInfo: single(() => 1, { version, ...(commit !== undefined && { commit: shortCommit(commit) }) }),
      applicationStarted: optional(() => this.#started, APPLICATION),
      applicationReady: optional(() => this.#ready, APPLICATION),
    };
  }
}
