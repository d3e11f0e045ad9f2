// Written by npm run generate out of consumer.yaml's schema; never edited.

/** A metric from outside, such as the lag. Left out: does not count. */
export interface ScalingHpaExternalProps {
  /**
   * Name of a metric that the cluster has an adapter for.
   *
   * Allowed: the name of a metric: letters, digits, and any of _ . : / | -.
   */
  readonly metric: string;

  /**
   * Labels that select its series.
   *
   * @default {}
   */
  readonly labels?: Readonly<Record<string, string>>;

  /**
   * Value per Pod to aim at, such as records behind.
   *
   * Allowed: 1 to 1000000000.
   */
  readonly averageValue: number;
}
