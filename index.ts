/** Constructs for any cdk8s app: a consumer, and its monitoring. */
export { StreamConsumer } from './charts/stream-consumer.ts';
export type { ManagementEndpoint } from './contract/actuator.ts';
export type * from './deployment/generated/props.ts';
export { InvalidConsumerError } from './deployment/invalid-consumer-error.ts';
export type { ConsumerNames, Workload } from './deployment/workload.ts';
export {
  StreamConsumerMonitoring,
  type StreamConsumerMonitoringProps,
} from './monitoring/stream-consumer-monitoring.ts';
export type { Problem } from './settings/schema/problem.ts';
