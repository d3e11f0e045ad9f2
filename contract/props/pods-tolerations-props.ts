// Written by npm run generate out of consumer.yaml's schema; never edited.

/** `pods.tolerations` of consumer.yaml. */
export interface PodsTolerationsProps {
  /**
   * Key of the taint. Left out: any.
   *
   * @default - any
   */
  readonly key?: string;

  /**
   * Whether the value counts.
   *
   * @default 'Equal'
   */
  readonly operator?: 'Equal' | 'Exists';

  /**
   * Value of the taint. Left out: none.
   *
   * @default - none
   */
  readonly value?: string;

  /**
   * What the taint does. Left out: any.
   *
   * @default - any
   */
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';

  /**
   * Time to stay, with NoExecute. Left out: for ever.
   *
   * Allowed: 0 to 86400.
   *
   * @default - for ever
   */
  readonly tolerationSeconds?: number;
}
