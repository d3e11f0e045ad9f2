// Written by npm run generate out of consumer.yaml's schema; never edited.

/** What the scheduler sets aside for a Pod. */
export interface ResourcesRequestsProps {
  /**
   * CPU that the scheduler sets aside for a Pod.
   *
   * Allowed: an amount of CPU in quotes, such as '250m' or '1'.
   *
   * @default '100m'
   */
  readonly cpu?: string;

  /**
   * Memory that the scheduler sets aside; left out: the limit's.
   *
   * Allowed: a size such as 256Mi or 1Gi.
   *
   * @default - the limit's
   */
  readonly memory?: string;
}
