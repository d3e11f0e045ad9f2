// Written by npm run generate out of consumer.yaml's schema; never edited.

/** `probes` of consumer.yaml. */
export interface ProbesProps {
  /**
   * root: both probes ask /actuator/health. groups: each asks its group, so that a database outage takes Pods out of
   * service but restarts none.
   *
   * @default 'root'
   */
  readonly paths?: 'root' | 'groups';
}
