import type { TopicPartition } from '../../records/record.ts';
import { LEADER_EPOCH_KEY, LEADER_EPOCH_VERSION, leaderEpochRequest } from '../leader-epoch-request.ts';
import { METADATA_KEY, topicIdsRequest } from '../topic-id-requests.ts';
import type { ClientOptions } from './classes.ts';

/** What the admin client answers beside kafkajs's own. */
export interface TopicIdAdmin {
  /** The ids of topics; those that the broker does not have, or tells no id of, are left out. */
  fetchTopicIds(topics: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /**
   * Whether the leader's log has the epoch, or a later one; true where the broker does not tell. Of topics that the
   * client has asked for before.
   */
  knowsEpoch(target: TopicPartition, leaderEpoch: number): Promise<boolean>;
}

/** Lets the admin client tell the ids of topics and the epochs of logs. */
export function administerTopicIds(
  create: (options: ClientOptions) => object,
): (options: ClientOptions) => TopicIdAdmin {
  return (options) => {
    const { cluster } = options;
    return {
      ...create(options),
      fetchTopicIds: async (topics) => {
        const { versions, connectionPool } = await cluster.brokerPool.findConnectedBroker();
        const request = topicIdsRequest(versions?.[METADATA_KEY]?.maxVersion ?? 0, topics);
        return request ? connectionPool.send(request) : new Map();
      },
      knowsEpoch: async (target, leaderEpoch) => {
        const { topic, partition } = target;
        const [nodeId = ''] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]));
        const { versions, connectionPool } = await cluster.findBroker({ nodeId });
        const tells = (versions?.[LEADER_EPOCH_KEY]?.maxVersion ?? 0) >= LEADER_EPOCH_VERSION;
        const answer = tells ? await connectionPool.send(leaderEpochRequest(target, leaderEpoch)) : null;
        return answer?.isKnown !== false || answer.errorCode !== 0;
      },
    };
  };
}
