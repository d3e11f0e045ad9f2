import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import {
  administerKnownTopics,
  consumeKnownTopics,
  failOverUnknownTopics,
  metadataResponse,
  rejoinWithoutGoneTopics,
} from '../../../../app/kafka/kafkajs/topic-patches.ts';

const require = createRequire(import.meta.url);

type Shipped = Parameters<typeof metadataResponse>[0];

const shipped = require('kafkajs/src/protocol/requests/metadata/v0/response.js') as Shipped;

const known = { topicErrorCode: 0, topic: 'kept', partitionMetadata: [{ partitionErrorCode: 0, partitionId: 0 }] };
const unknown = { topicErrorCode: 3, topic: 'deleted', partitionMetadata: [] };
const forbidden = { topicErrorCode: 29, topic: 'secret', partitionMetadata: [] };

const UNKNOWN_TOPIC = { type: 'UNKNOWN_TOPIC_OR_PARTITION' };

describe('a metadata response', () => {
  test('as shipped fails over one unknown topic, and does not name it, which is why it is patched', async () => {
    await expect(shipped.parse({ topicMetadata: [known, unknown] })).rejects.toMatchObject(UNKNOWN_TOPIC);
  });

  test('keeps all topics, those that are unknown without partitions', async () => {
    const data = { topicMetadata: [known, unknown] };
    expect(await metadataResponse(shipped).parse(data)).toEqual(data);
  });

  test('keeps partitions without a leader, over which it fails as shipped', async () => {
    const partitionMetadata = [5, 72].map((partitionErrorCode) => ({ partitionErrorCode }));
    const data = { topicMetadata: [{ ...known, partitionMetadata }] };
    await expect(shipped.parse(data)).rejects.toMatchObject({ type: 'LEADER_NOT_AVAILABLE' });
    expect(await metadataResponse(shipped).parse(data)).toEqual(data);
  });

  test('fails over every other error as shipped', async () => {
    const invalid = { topicErrorCode: 17, topic: 'a/b', partitionMetadata: [] };
    const parsed = metadataResponse(shipped).parse({ topicMetadata: [unknown, forbidden, invalid] });
    await expect(parsed).rejects.toMatchObject({ type: 'INVALID_TOPIC_EXCEPTION' });
  });

  test('fails over a forbidden topic by an error that names it', async () => {
    class Broker {
      metadata = async (_topics?: readonly string[]) => ({ topicMetadata: [known, forbidden] });
    }
    const prototype = new Broker();
    failOverUnknownTopics(prototype as never);
    const refused = { type: 'TOPIC_AUTHORIZATION_FAILED', topics: ['secret'], retriable: false };
    await expect(prototype.metadata()).rejects.toMatchObject(refused);
  });
});

/** A cluster of one broker that has the topic `kept` alone, with a partition that ends at offset 7 and one without a leader. */
function aCluster(leaders: readonly number[] = [0, -1]) {
  class Broker {
    async metadata(_topics?: readonly string[]) {
      return { topicMetadata: [known, unknown] };
    }
  }
  failOverUnknownTopics(Broker.prototype as never);
  const told: string[] = [];
  return {
    told,
    brokerPool: { createBroker: (_options: unknown) => new Broker() },
    targetTopics: new Set([known.topic]),
    refreshMetadata: async (): Promise<void> => void told.push('refreshed'),
    refreshMetadataIfNecessary: async (): Promise<void> => void told.push('refreshed if necessary'),
    findTopicPartitionMetadata: (topic: string) =>
      topic === known.topic ? leaders.map((leader, partitionId) => ({ partitionId, leader })) : [],
    fetchTopicsOffset: async (topics: readonly AskedTopic[]) =>
      topics
        .filter(({ topic }) => topic === known.topic)
        .map(({ topic, partitions }) => ({ topic, partitions: partitions.map((of) => ({ ...of, offset: '7' })) })),
  };
}

interface AskedTopic {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number }[];
}

const offsetsOf = (cluster: ReturnType<typeof aCluster>) =>
  cluster.fetchTopicsOffset([known, unknown].map(({ topic }) => ({ topic, partitions: [{ partition: 0 }] })));

test('a client of another kind, such as a producer, still fails over an unknown topic', async () => {
  const broker = aCluster().brokerPool.createBroker({});
  await expect(broker.metadata(['kept', 'deleted'])).rejects.toMatchObject(UNKNOWN_TOPIC);
});

test('a consumer goes on with what is known, and reports what is not', async () => {
  const answers: unknown[] = [];
  const cluster = aCluster();
  const { onTopics } = consumeKnownTopics(() => ({}))({ cluster: cluster as never, groupId: 'group' });
  onTopics((answer) => answers.push(answer));
  await cluster.brokerPool.createBroker({}).metadata(['kept', 'deleted']);
  expect(answers).toEqual([{ unknown: ['deleted'], partitions: new Map([['kept', 1]]) }]);
});

test('the admin client goes on with what is known, and names the error where it is asked for what is not', async () => {
  const cluster = aCluster();
  administerKnownTopics({ cluster: cluster as never });
  expect(await cluster.brokerPool.createBroker({}).metadata()).toEqual({ topicMetadata: [known, unknown] });
  await expect(offsetsOf(cluster)).rejects.toMatchObject(UNKNOWN_TOPIC);
  const withoutPartitions = [{ topic: unknown.topic, partitions: [] }];
  await expect(cluster.fetchTopicsOffset(withoutPartitions)).rejects.toMatchObject(UNKNOWN_TOPIC);
  expect(await cluster.fetchTopicsOffset([{ topic: 'kept', partitions: [{ partition: 0 }] }])).toHaveLength(1);
});

const BOTH = [{ topic: 'kept', partitions: [{ partition: 0 }, { partition: 1 }] }];

test('the admin client asks no broker for the offset of a partition without a leader either, and looks for one each time', async () => {
  const cluster = aCluster();
  administerKnownTopics({ cluster: cluster as never });
  await cluster.refreshMetadataIfNecessary();
  expect(cluster.told).toEqual(['refreshed']);
  const partitions = [
    { partition: 0, offset: '7' },
    { partition: 1, offset: '-1' },
  ];
  expect(await cluster.fetchTopicsOffset(BOTH)).toEqual([{ topic: 'kept', partitions }]);
});

test('with all leaders known the admin client asks for them when kafkajs does', async () => {
  const cluster = aCluster([0, 0]);
  administerKnownTopics({ cluster: cluster as never });
  await cluster.refreshMetadataIfNecessary();
  expect(cluster.told).toEqual(['refreshed if necessary']);
});

/** The admin client's cluster, whose leader of before does not lead any more. */
function withLostLeader(leaders: number[], onRefreshed: () => void) {
  const cluster = aCluster(leaders);
  const fetchTopicsOffset = cluster.fetchTopicsOffset;
  cluster.fetchTopicsOffset = async (topics) => {
    if (topics.some(({ partitions }) => partitions.some(({ partition }) => leaders[partition] === 9))) {
      throw new Error('NOT_LEADER_OR_FOLLOWER');
    }
    return fetchTopicsOffset(topics);
  };
  cluster.refreshMetadata = async () => onRefreshed();
  administerKnownTopics({ cluster: cluster as never });
  return cluster;
}

test.each([0, -1])(
  'an error of a leader of before makes the admin client ask the one of now (%d) at once',
  async (now) => {
    const leaders = [0, 9];
    const cluster = withLostLeader(leaders, () => leaders.splice(1, 1, now));
    const [answer] = await cluster.fetchTopicsOffset(BOTH);
    expect(answer?.partitions).toContainEqual({ partition: 1, offset: now < 0 ? '-1' : '7' });
  },
);

test('an error of a leader that still leads, or of whom nothing new is told, is an error', async () => {
  await expect(withLostLeader([0, 9], () => undefined).fetchTopicsOffset(BOTH)).rejects.toThrow('NOT_LEADER');
  const failing = withLostLeader([0, 9], () => {
    throw new Error('no broker');
  });
  await expect(failing.fetchTopicsOffset(BOTH)).rejects.toThrow('NOT_LEADER');
});

/** A group that was assigned partitions when there were `before`, and sees `after` by now. */
function aGroup(before: Readonly<Record<string, number[]>>, after: Readonly<Record<string, number[]>>) {
  class Group {
    readonly partitionsPerSubscribedTopic = new Map(Object.entries(before));

    generatePartitionsPerSubscribedTopic() {
      return new Map(Object.entries(after));
    }

    checkForStaleAssignment(): void {
      // As shipped: nothing was added.
    }
  }
  rejoinWithoutGoneTopics(Group.prototype as never);
  return new Group();
}

test('an assignment is stale once a topic of it is gone, and no longer when the group has assigned what is left', () => {
  const all = { kept: [0], deleted: [0, 1] };
  const left = { kept: [0], deleted: [] };
  expect(() => aGroup(all, left).checkForStaleAssignment()).toThrow(
    expect.objectContaining({ name: 'KafkaJSStaleTopicMetadataAssignment', topic: 'deleted' }),
  );
  expect(() => aGroup(all, all).checkForStaleAssignment()).not.toThrow();
  expect(() => aGroup(left, left).checkForStaleAssignment()).not.toThrow();
});
