// Written by npm run generate out of consumer.yaml's schema; never edited.

/**
 * Asks what liveness asks until it succeeds once, and nothing else asks before; a Pod that does not get there is
 * restarted. Left out: none, as the initial delays of the other two cover the start.
 */
export interface ProbesStartupProps {
  /**
   * Time from the container's start to the first question.
   *
   * Allowed: 0 to 3600.
   *
   * @default 0
   */
  readonly initialDelaySeconds?: number;

  /**
   * Time between two questions.
   *
   * Allowed: 1 to 3600.
   *
   * @default 5
   */
  readonly periodSeconds?: number;

  /**
   * Time that an answer may take; at most the period.
   *
   * Allowed: 1 to 3600.
   *
   * @default 5
   */
  readonly timeoutSeconds?: number;

  /**
   * Failures in a row after which the Pod counts as failed.
   *
   * Allowed: 1 to 100.
   *
   * @default 12
   */
  readonly failureThreshold?: number;
}
