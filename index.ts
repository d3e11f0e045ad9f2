/** Constructs for any cdk8s app: a consumer, and its monitoring. */
export { StreamConsumer } from './charts/stream-consumer.ts';
export type { ManagementEndpoint } from './contract/actuator.ts';
export type { ConsumerNames } from './contract/consumer-names.ts';
export { InvalidConsumerError } from './contract/invalid-consumer-error.ts';
export type { Problem } from './contract/problem.ts';
export type * from './contract/props.ts';
export type { Workload } from './contract/workload.ts';
export {
  StreamConsumerMonitoring,
  type StreamConsumerMonitoringProps,
} from './monitoring/stream-consumer-monitoring.ts';
