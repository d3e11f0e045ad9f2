// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ResourcesLimitsProps } from './resources-limits-props.ts';
import type { ResourcesRequestsProps } from './resources-requests-props.ts';

/** `resources` of consumer.yaml. */
export interface ResourcesProps {
  /**
   * `resources.requests` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly requests?: ResourcesRequestsProps;

  /**
   * `resources.limits` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly limits?: ResourcesLimitsProps;
}
