// Written by npm run generate out of consumer.yaml's schema; never edited.

/** When a Pod is taken out of its Service. */
export interface ProbesReadinessProps {
  /**
   * Time from the container's start to the first question.
   *
   * Allowed: 0 to 3600.
   *
   * @default 30
   */
  readonly initialDelaySeconds?: number;

  /**
   * Time between two questions.
   *
   * Allowed: 1 to 3600.
   *
   * @default 10
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
   * @default 3
   */
  readonly failureThreshold?: number;
}
