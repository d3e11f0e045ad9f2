// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { NetworkPolicyEgressProps } from './network-policy-egress-props.ts';
import type { NetworkPolicyIngressProps } from './network-policy-ingress-props.ts';

/** `networkPolicy` of consumer.yaml. */
export interface NetworkPolicyProps {
  /**
   * Whether there is a NetworkPolicy; false leaves all traffic to the policies of others.
   *
   * @default true
   */
  readonly enabled?: boolean;

  /**
   * Who may ask the HTTP interface: Prometheus above all. The kubelet, which probes, needs no rule.
   *
   * @default [{"namespace":"monitoring"}]
   */
  readonly ingress?: readonly NetworkPolicyIngressProps[];

  /**
   * `networkPolicy.egress` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly egress?: NetworkPolicyEgressProps;
}
