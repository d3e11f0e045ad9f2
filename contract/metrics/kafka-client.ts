import type { MetricDefinitions } from './definition.ts';

const CLIENT = ['client_id', 'kafka_version'] as const;
const TOPIC = [...CLIENT, 'topic'] as const;
const PARTITION = [...TOPIC, 'partition'] as const;

/**
 * The Kafka client by the names that Micrometer has for Kafka's own: times in milliseconds unless the name says
 * otherwise.
 */
export const KAFKA_CLIENT_METRICS = {
  clientRecordsLag: {
    name: 'kafka_consumer_fetch_manager_records_lag',
    type: 'gauge',
    labels: PARTITION,
    help: 'The latest lag of the partition: the same figure as kafka_consumer_records_lag',
    dotted: 'kafka.consumer.fetch.manager.records.lag',
  },
  clientRecordsLagMax: {
    name: 'kafka_consumer_fetch_manager_records_lag_max',
    type: 'gauge',
    labels: PARTITION,
    help: 'The largest lag of the partition that a scrape saw in the last three minutes',
    dotted: 'kafka.consumer.fetch.manager.records.lag.max',
  },
  clientRecordsConsumed: {
    name: 'kafka_consumer_fetch_manager_records_consumed_total',
    type: 'counter',
    labels: TOPIC,
    help: 'Records that the client fetched for a topic, whether or not they were written since; a record that is fetched again counts again',
    dotted: 'kafka.consumer.fetch.manager.records.consumed.total',
  },
  clientRecordsRate: {
    name: 'kafka_consumer_fetch_manager_records_consumed_rate',
    type: 'gauge',
    labels: TOPIC,
    help: 'Records that the client fetched per second for a topic, over the last minute',
    dotted: 'kafka.consumer.fetch.manager.records.consumed.rate',
  },
  clientBytesConsumed: {
    name: 'kafka_consumer_fetch_manager_bytes_consumed_total',
    type: 'counter',
    labels: TOPIC,
    help: 'Bytes of keys and values that the client fetched for a topic, after decompression',
    dotted: 'kafka.consumer.fetch.manager.bytes.consumed.total',
  },
  clientBytesRate: {
    name: 'kafka_consumer_fetch_manager_bytes_consumed_rate',
    type: 'gauge',
    labels: TOPIC,
    help: 'Bytes of keys and values that the client fetched per second for a topic, over the last minute',
    dotted: 'kafka.consumer.fetch.manager.bytes.consumed.rate',
  },
  clientFetches: {
    name: 'kafka_consumer_fetch_manager_fetch_total',
    type: 'counter',
    labels: CLIENT,
    help: 'Fetch requests that were answered',
    dotted: 'kafka.consumer.fetch.manager.fetch.total',
  },
  clientFetchRate: {
    name: 'kafka_consumer_fetch_manager_fetch_rate',
    type: 'gauge',
    labels: CLIENT,
    help: 'Fetch requests per second, over the last minute',
    dotted: 'kafka.consumer.fetch.manager.fetch.rate',
  },
  clientFetchLatencyAvg: {
    name: 'kafka_consumer_fetch_manager_fetch_latency_avg',
    type: 'gauge',
    labels: CLIENT,
    help: 'Average time that a fetch request took, the wait for records included, over the last minute; after a quiet minute the last known one',
    dotted: 'kafka.consumer.fetch.manager.fetch.latency.avg',
  },
  clientFetchLatencyMax: {
    name: 'kafka_consumer_fetch_manager_fetch_latency_max',
    type: 'gauge',
    labels: CLIENT,
    help: 'Longest time that a fetch request took in the last minute; after a quiet minute the last known one',
    dotted: 'kafka.consumer.fetch.manager.fetch.latency.max',
  },
  clientRequests: {
    name: 'kafka_consumer_request_total',
    type: 'counter',
    labels: CLIENT,
    help: 'Requests of any kind that brokers answered',
    dotted: 'kafka.consumer.request.total',
  },
  clientIncomingBytes: {
    name: 'kafka_consumer_incoming_byte_total',
    type: 'counter',
    labels: CLIENT,
    help: 'Bytes of the answers of brokers, as they came over the network',
    dotted: 'kafka.consumer.incoming.byte.total',
  },
  clientLastPoll: {
    name: 'kafka_consumer_last_poll_seconds_ago',
    type: 'gauge',
    labels: CLIENT,
    help: 'Seconds since the client last began to fetch; -1 before the first time',
    dotted: 'kafka.consumer.last.poll.seconds.ago',
  },
  clientAssigned: {
    name: 'kafka_consumer_coordinator_assigned_partitions',
    type: 'gauge',
    labels: CLIENT,
    help: 'Partitions that the group gave to this process',
    dotted: 'kafka.consumer.coordinator.assigned.partitions',
  },
  clientRebalances: {
    name: 'kafka_consumer_coordinator_rebalance_total',
    type: 'counter',
    labels: CLIENT,
    help: 'Joins of the group that ended with an assignment',
    dotted: 'kafka.consumer.coordinator.rebalance.total',
  },
  clientFailedRebalances: {
    name: 'kafka_consumer_coordinator_failed_rebalance_total',
    type: 'counter',
    labels: CLIENT,
    help: 'Joins of the group that ended with an error',
    dotted: 'kafka.consumer.coordinator.failed.rebalance.total',
  },
  clientRebalanceLatencyAvg: {
    name: 'kafka_consumer_coordinator_rebalance_latency_avg',
    type: 'gauge',
    labels: CLIENT,
    help: 'Average time that a join of the group took, over the last minute; after a quiet minute the last known one',
    dotted: 'kafka.consumer.coordinator.rebalance.latency.avg',
  },
  clientRebalanceLatencyMax: {
    name: 'kafka_consumer_coordinator_rebalance_latency_max',
    type: 'gauge',
    labels: CLIENT,
    help: 'Longest time that a join of the group took in the last minute; after a quiet minute the last known one',
    dotted: 'kafka.consumer.coordinator.rebalance.latency.max',
  },
  clientLastRebalance: {
    name: 'kafka_consumer_coordinator_last_rebalance_seconds_ago',
    type: 'gauge',
    labels: CLIENT,
    help: 'Seconds since the group last gave partitions; -1 before the first time',
    dotted: 'kafka.consumer.coordinator.last.rebalance.seconds.ago',
  },
  clientHeartbeats: {
    name: 'kafka_consumer_coordinator_heartbeat_total',
    type: 'counter',
    labels: CLIENT,
    help: 'Heartbeats that the group coordinator answered',
    dotted: 'kafka.consumer.coordinator.heartbeat.total',
  },
  clientLastHeartbeat: {
    name: 'kafka_consumer_coordinator_last_heartbeat_seconds_ago',
    type: 'gauge',
    labels: CLIENT,
    help: 'Seconds since the group coordinator last answered a heartbeat; -1 before the first time',
    dotted: 'kafka.consumer.coordinator.last.heartbeat.seconds.ago',
  },
} as const satisfies MetricDefinitions;
