// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { PodsTolerationsProps } from './pods-tolerations-props.ts';

/** What else is said about the Pods of the Deployment and of the Job. */
export interface PodsProps {
  /**
   * More labels; ours win.
   *
   * @default {}
   */
  readonly labels?: Readonly<Record<string, string>>;

  /**
   * More annotations; ours win.
   *
   * @default {}
   */
  readonly annotations?: Readonly<Record<string, string>>;

  /**
   * More environment variables, such as TZ or NODE_EXTRA_CA_CERTS; no settings, which belong into application, and no
   * secrets.
   *
   * @default {}
   */
  readonly environment?: Readonly<Record<string, string>>;

  /**
   * Labels that a node must have.
   *
   * @default {}
   */
  readonly nodeSelector?: Readonly<Record<string, string>>;

  /**
   * Taints of nodes that do not keep the Pods away.
   *
   * @default []
   */
  readonly tolerations?: readonly PodsTolerationsProps[];

  /**
   * Who goes first where there is no room. Left out: the cluster's default.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   *
   * @default - the cluster's default
   */
  readonly priorityClassName?: string;

  /**
   * Whether the Pods prefer different nodes and zones; they start without, too.
   *
   * @default true
   */
  readonly spread?: boolean;
}
