// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { NetworkPolicyEgressBrokersProps } from './network-policy-egress-brokers-props.ts';
import type { NetworkPolicyEgressDatabaseProps } from './network-policy-egress-database-props.ts';
import type { NetworkPolicyEgressDnsProps } from './network-policy-egress-dns-props.ts';
import type { NetworkPolicyEgressOthersProps } from './network-policy-egress-others-props.ts';

/** `networkPolicy.egress` of consumer.yaml. */
export interface NetworkPolicyEgressProps {
  /**
   * Where name servers may be. Left out: anywhere, at 53.
   *
   * @default [{}]
   */
  readonly dns?: readonly NetworkPolicyEgressDnsProps[];

  /**
   * Where the brokers may be. Left out: anywhere, at the ports of application.kafka.brokers.
   *
   * @default [{}]
   */
  readonly brokers?: readonly NetworkPolicyEgressBrokersProps[];

  /**
   * Where PostgreSQL may be. Left out: anywhere, at 5432.
   *
   * @default [{}]
   */
  readonly database?: readonly NetworkPolicyEgressDatabaseProps[];

  /**
   * Whatever else the Pods may reach. Left out: nothing.
   *
   * @default []
   */
  readonly others?: readonly NetworkPolicyEgressOthersProps[];
}
