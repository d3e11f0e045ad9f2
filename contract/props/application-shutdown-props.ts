// Written by npm run generate out of consumer.yaml's schema; never edited.

/** How the process ends. */
export interface ApplicationShutdownProps {
  /**
   * Time to drain in after SIGTERM; what is not written by then stays ahead of the stored offset.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, such as 500ms, 30s, 5m.
   *
   * @default '25s'
   */
  readonly timeout?: string;
}
