// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ProbesLivenessProps } from './probes-liveness-props.ts';
import type { ProbesReadinessProps } from './probes-readiness-props.ts';
import type { ProbesStartupProps } from './probes-startup-props.ts';

/** What Kubernetes asks the Pods, and how often. */
export interface ProbesProps {
  /**
   * root: both probes ask /actuator/health. groups: each asks its group, so that a database outage takes Pods out of
   * service but restarts none.
   *
   * @default 'root'
   */
  readonly paths?: 'root' | 'groups';

  /**
   * When a Pod is restarted.
   *
   * @default - the default of each property
   */
  readonly liveness?: ProbesLivenessProps;

  /**
   * When a Pod is taken out of its Service.
   *
   * @default - the default of each property
   */
  readonly readiness?: ProbesReadinessProps;

  /**
   * Asks what liveness asks until it succeeds once, and nothing else asks before; a Pod that does not get there is
   * restarted. Left out: none, as the initial delays of the other two cover the start.
   *
   * @default - none, as the initial delays of the other two cover the start
   */
  readonly startup?: ProbesStartupProps;
}
