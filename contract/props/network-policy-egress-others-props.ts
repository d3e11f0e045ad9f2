// Written by npm run generate out of consumer.yaml's schema; never edited.

/** A place: addresses, Pods, or only ports. */
export interface NetworkPolicyEgressOthersProps {
  /**
   * Block of addresses, for what is outside of the cluster; not together with the others. Left out: any address.
   *
   * Allowed: a block of addresses such as 10.0.0.0/8, 192.0.2.10/32 or 2001:db8::/32.
   *
   * @default - any address
   */
  readonly cidr?: string;

  /**
   * Namespace of the Pods. Left out: the consumer's own where podLabels are given, otherwise any place.
   *
   * Allowed: the name of a namespace: at most 63 lower-case letters, digits and dashes.
   *
   * @default - the consumer's own where podLabels are given, otherwise any place
   */
  readonly namespace?: string;

  /**
   * Labels of the Pods. Left out: all Pods of the namespace.
   *
   * @default - all Pods of the namespace
   */
  readonly podLabels?: Readonly<Record<string, string>>;

  /** Ports as the Pods or hosts there have them, not those of a Service. */
  readonly ports: readonly number[];
}
