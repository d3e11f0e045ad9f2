import type { ManagementEndpoint } from '../contract/actuator.ts';
import type { ConsumerNames } from './consumer-names.ts';
import type { StreamConsumerProps } from './props.ts';

// No type of a schema stands here: the compiler of an app that uses the library would work through all of TypeBox.

/** What objects around a consumer's have to know of it. */
export interface Workload {
  /** The props, as they were given and found right. */
  readonly document: StreamConsumerProps;
  /** What its objects are called. */
  readonly names: ConsumerNames;
  /** Where all its objects are. */
  readonly namespace: string;
  /** All six recommended labels: for metadata and the Pod template. */
  readonly labels: Readonly<Record<string, string>>;
  /** The labels that never change: for selectors. */
  readonly selector: Readonly<Record<string, string>>;
  /** Port, scheme, paths and access of the HTTP interface. */
  readonly endpoint: ManagementEndpoint;
  /** The package's version, which is the image's tag unless the props name another. */
  readonly version: string;
}
