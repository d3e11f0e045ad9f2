// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ResourcesLimitsProps } from './resources-limits-props.ts';
import type { ResourcesRequestsProps } from './resources-requests-props.ts';

/** What a Pod may use. */
export interface ResourcesProps {
  /**
   * What the scheduler sets aside for a Pod.
   *
   * @default - the default of each property
   */
  readonly requests?: ResourcesRequestsProps;

  /**
   * What a Pod may use at most.
   *
   * @default - the default of each property
   */
  readonly limits?: ResourcesLimitsProps;
}
