/** Constructs for any cdk8s app: a consumer, and its monitoring. */
export { StreamConsumer } from './charts/stream-consumer.ts';
export type { ManagementEndpoint } from './contract/actuator.ts';
export { InvalidConsumerError } from './deployment/invalid-consumer-error.ts';
export type * from './deployment/props.ts';
export type { ConsumerNames, Workload } from './deployment/workload.ts';
export {
  StreamConsumerMonitoring,
  type StreamConsumerMonitoringProps,
} from './monitoring/stream-consumer-monitoring.ts';
export type { Problem } from './settings/problem.ts';
