// Written by npm run generate out of consumer.yaml's schema; never edited.

/** What a Pod may use at most. */
export interface ResourcesLimitsProps {
  /**
   * CPU beyond which a Pod is slowed down; the consumer runs JavaScript on one core.
   *
   * Allowed: an amount of CPU in quotes, such as '250m' or '1'.
   *
   * @default '1'
   */
  readonly cpu?: string;

  /**
   * Memory beyond which a Pod is killed; V8's heap and the memory alerts are computed from it.
   *
   * Allowed: a size such as 256Mi or 1Gi.
   *
   * @default '512Mi'
   */
  readonly memory?: string;
}
