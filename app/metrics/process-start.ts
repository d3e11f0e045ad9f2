import { PRODUCT_NAME } from '../../contract/identity.ts';
import { type MetricSources, optional } from './metric-source.ts';

/** When the start was over, in seconds since the process began; no series before. */
export class StartupTimes {
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

  get sources(): Pick<MetricSources, 'applicationStarted' | 'applicationReady'> {
    const labels = { main_application_class: PRODUCT_NAME };
    return {
      applicationStarted: optional(() => this.#started, labels),
      applicationReady: optional(() => this.#ready, labels),
    };
  }
}
