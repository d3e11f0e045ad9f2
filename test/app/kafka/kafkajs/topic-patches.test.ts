import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Broker, Cluster } from '../../../../app/kafka/kafkajs/classes.ts';
import { internals } from '../../../../app/kafka/kafkajs/internals.ts';
import { loadKafkajs } from '../../../../app/kafka/kafkajs/patches.ts';
import { administerKnownTopics } from '../../../../app/kafka/kafkajs/topic-patches.ts';
import { clusterOf } from './client.ts';
import {
  coordinatorOf,
  int16,
  int32,
  int64,
  list,
  metadataOf,
  noCoordinator,
  StubBroker,
  text,
} from './stub-broker.ts';

const shipped = internals.metadataResponse;

beforeAll(() => void loadKafkajs());

const open: { close(): void }[] = [];
afterEach(() => {
  for (const end of open.splice(0)) end.close();
});

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
    expect(await internals.metadataResponse.parse(data)).toEqual(data);
  });

  test('keeps partitions without a leader, over which it fails as shipped', async () => {
    const partitionMetadata = [5, 72].map((partitionErrorCode) => ({ partitionErrorCode }));
    const data = { topicMetadata: [{ ...known, partitionMetadata }] };
    await expect(shipped.parse(data)).rejects.toMatchObject({ type: 'LEADER_NOT_AVAILABLE' });
    expect(await internals.metadataResponse.parse(data)).toEqual(data);
  });

  test('fails over every other error as shipped', async () => {
    const invalid = { topicErrorCode: 17, topic: 'a/b', partitionMetadata: [] };
    const parsed = internals.metadataResponse.parse({ topicMetadata: [unknown, forbidden, invalid] });
    await expect(parsed).rejects.toMatchObject({ type: 'INVALID_TOPIC_EXCEPTION' });
  });
});

/** ListOffsets 1: each partition that is asked for ends at 7, or at an error. */
function offsetsOf(body: Buffer, error: number): Buffer {
  const { Decoder } = internals;
  const asked = new Decoder(body);
  asked.readInt32();
  const topics = asked.readArray((topic) => {
    const name = topic.readString() ?? '';
    const partitions = topic.readArray((partition) => {
      const number = partition.readInt32();
      partition.readInt64();
      return Buffer.concat([int32(number), int16(error), int64(-1), int64(7)]);
    });
    return Buffer.concat([text(name), list(partitions)]);
  });
  return list(topics);
}

const NOT_LEADER = 6;

/** A topic about whose offsets the broker never says anything, nor about others in the same request. */
const SILENT = 'silent';

/**
 * A broker of id 0 that has the topics `kept` and `other`, whose partitions have the leaders, and `secret`. A second
 * one, of id 1, leads nothing any more.
 *
 * @param leaders may be changed: metadata has those of the moment
 */
async function aCluster(leaders: readonly number[], prepare: (cluster: Cluster) => void, topics = ['kept']) {
  const partitionsNow = () => leaders.map((leader) => ({ leader, error: leader < 0 ? 5 : 0 }));
  const metadata = ({ body }: { readonly body: Buffer }) => {
    const asked = new internals.Decoder(body).readArray((of) => of.readString() ?? '');
    const answers = {
      kept: { partitions: partitionsNow() },
      other: { partitions: partitionsNow() },
      [SILENT]: { partitions: partitionsNow() },
      secret: { error: 29 },
    } as Readonly<Record<string, object>>;
    return metadataOf(brokers, Object.fromEntries(asked.map((topic) => [topic, answers[topic] ?? { error: 3 }])));
  };
  const listOffsets = ({ body }: { readonly body: Buffer }) => (body.includes(SILENT) ? null : offsetsOf(body, 0));
  const leading = await StubBroker.start({ metadata, listOffsets });
  const former = await StubBroker.start({ metadata, listOffsets: ({ body }) => offsetsOf(body, NOT_LEADER) });
  const brokers = [leading, former];
  const cluster = await clusterOf(leading, topics, prepare);
  open.push(...brokers, { close: () => void cluster.disconnect() });
  const refreshed = () => [...leading.named('metadata'), ...former.named('metadata')].length;
  const asked = (broker = leading) => broker.named('listOffsets').length;
  return { cluster, refreshed, asked, askedFormer: () => asked(former) };
}

const admin = (cluster: Cluster): void => administerKnownTopics({ cluster });

const anyBroker = (cluster: Cluster): Promise<Broker> => cluster.brokerPool.findConnectedBroker();

const partitionsOf = (topic: string, ...partitions: readonly number[]) => ({
  topic,
  partitions: partitions.map((partition) => ({ partition })),
});

const offset = (partition: number, at: string) => ({ partition, offset: at });

test('a client of another kind, such as a producer, still fails over an unknown topic', async () => {
  const { cluster } = await aCluster([0], () => undefined);
  const broker = await anyBroker(cluster);
  await expect(broker.metadata(['kept', 'deleted'])).rejects.toMatchObject(UNKNOWN_TOPIC);
});

test.each([admin, () => undefined])(
  'a client fails over a forbidden topic by an error that names it',
  async (prepare) => {
    const { cluster } = await aCluster([0], prepare);
    const broker = await anyBroker(cluster);
    const refused = { type: 'TOPIC_AUTHORIZATION_FAILED', topics: ['secret'], retriable: false };
    await expect(broker.metadata(['kept', 'secret'])).rejects.toMatchObject(refused);
  },
);

test('the admin client goes on with what is known, and names the error where it is asked for what is not', async () => {
  const { cluster } = await aCluster([0], admin, ['kept', 'deleted']);
  expect(await cluster.fetchTopicsOffset([partitionsOf('kept', 0)])).toHaveLength(1);
  const both = [partitionsOf('kept', 0), partitionsOf('deleted', 0)];
  await expect(cluster.fetchTopicsOffset(both)).rejects.toMatchObject(UNKNOWN_TOPIC);
  await expect(cluster.fetchTopicsOffset([partitionsOf('deleted')])).rejects.toMatchObject(UNKNOWN_TOPIC);
});

test('the admin client asks no broker for the offset of a partition without a leader either, and looks for one each time', async () => {
  const { cluster, refreshed } = await aCluster([0, -1], admin);
  const before = refreshed();
  await cluster.refreshMetadataIfNecessary();
  expect(refreshed()).toBe(before + 1);
  const partitions = [offset(0, '7'), offset(1, '-1')];
  expect(await cluster.fetchTopicsOffset([partitionsOf('kept', 0, 1)])).toEqual([{ topic: 'kept', partitions }]);
});

test('the admin client finds the leaders that kafkajs finds', async () => {
  const { cluster } = await aCluster([0, 1, -1, 0], admin);
  await cluster.refreshMetadata();
  const { findLeaderForPartitions } = Object.getPrototypeOf(cluster) as Cluster;
  const asked = [3, 0, 2, 1, 9];
  const leaders = { '0': [3, 0], '-1': [2], '1': [1] };
  expect(cluster.findLeaderForPartitions('kept', asked)).toEqual(leaders);
  expect(findLeaderForPartitions.call(cluster, 'kept', asked)).toEqual(leaders);
  expect(cluster.findLeaderForPartitions('unheard-of', asked)).toEqual({});
});

test('the admin client looks at each partition once for the leaders of a thousand', async () => {
  const { cluster } = await aCluster([0], admin);
  let looks = 0;
  const partitions = Array.from({ length: 1_000 }, (_, number) => ({
    leader: number % 3,
    get partitionId() {
      looks += 1;
      return number;
    },
  }));
  Object.assign(cluster, { findTopicPartitionMetadata: () => partitions });
  const found = cluster.findLeaderForPartitions('kept', [...partitions.keys()]);
  expect(Object.values(found).map(({ length }) => length)).toEqual([334, 333, 333]);
  expect(looks).toBe(1_000);
});

test('with all leaders known the admin client asks for them when kafkajs does', async () => {
  const { cluster, refreshed } = await aCluster([0, 0], admin);
  const before = refreshed();
  await cluster.refreshMetadataIfNecessary();
  expect(refreshed()).toBe(before);
});

test('the admin client looks for a partition without a leader once in each metadata, however many topics it is asked for', async () => {
  const looks = jest.fn();
  const { cluster } = await aCluster([0, 0], (made) => {
    const find = made.findTopicPartitionMetadata.bind(made);
    const watched = (topic: string) => [looks(topic), find(topic)][1];
    admin(Object.assign(made, { findTopicPartitionMetadata: watched }));
  });
  const lookTwice = async () => {
    await cluster.refreshMetadataIfNecessary();
    await cluster.refreshMetadataIfNecessary();
  };
  await lookTwice();
  expect(looks.mock.calls).toEqual([['kept']]);
  await cluster.refreshMetadata();
  await lookTwice();
  expect(looks.mock.calls).toEqual([['kept'], ['kept']]);
});

test('the admin client asks for the offsets of several topics at once by one request for the ends and one for the beginnings', async () => {
  const { cluster, asked } = await aCluster([0, 0], admin, ['kept', 'other']);
  const ends = [partitionsOf('kept', 0, 1), partitionsOf('other', 1)];
  const beginnings = ends.map((of) => ({ ...of, fromBeginning: true }));
  const answers = await Promise.all([...ends, ...beginnings].map((of) => cluster.fetchTopicsOffset([of])));
  const kept = { topic: 'kept', partitions: [offset(0, '7'), offset(1, '7')] };
  const other = { topic: 'other', partitions: [offset(1, '7')] };
  expect(answers).toEqual([[kept], [other], [kept], [other]]);
  expect(asked()).toBe(2);
});

test('the same topic, asked for twice at once, is answered twice', async () => {
  const { cluster } = await aCluster([0, 0], admin);
  const both = [0, 1].map((partition) => cluster.fetchTopicsOffset([partitionsOf('kept', partition)]));
  expect(await Promise.all(both)).toEqual([0, 1].map((of) => [{ topic: 'kept', partitions: [offset(of, '7')] }]));
});

test('a topic that is asked for together with an unknown one is answered all the same', async () => {
  const { cluster } = await aCluster([0], admin, ['kept', 'deleted']);
  const [kept, deleted] = ['kept', 'deleted'].map((topic) => cluster.fetchTopicsOffset([partitionsOf(topic, 0)]));
  await expect(deleted).rejects.toMatchObject(UNKNOWN_TOPIC);
  expect(await kept).toEqual([{ topic: 'kept', partitions: [offset(0, '7')] }]);
});

test('a topic that is asked for together with one that gets no answer is answered all the same', async () => {
  const { cluster, asked } = await aCluster([0], admin, ['kept', SILENT]);
  const [kept, silent] = ['kept', SILENT].map((topic) => cluster.fetchTopicsOffset([partitionsOf(topic, 0)]));
  silent?.catch(() => undefined);
  expect(await kept).toEqual([{ topic: 'kept', partitions: [offset(0, '7')] }]);
  expect(asked()).toBe(3);
  // Half of what a request waits for an answer, which is how long the other topic waits.
}, 15_000);

const FORMER = 1;

test.each([0, -1])(
  'an error of a leader of before makes the admin client ask the one of now (%d) at once',
  async (now) => {
    const leaders = [0, FORMER];
    const { cluster } = await aCluster(leaders, admin);
    leaders.splice(1, 1, now);
    const [answer] = await cluster.fetchTopicsOffset([partitionsOf('kept', 0, 1)]);
    expect(answer?.partitions).toContainEqual(offset(1, now < 0 ? '-1' : '7'));
  },
);

test('an error of a leader that still leads, or of whom nothing new is told, is an error', async () => {
  const { cluster, refreshed, askedFormer } = await aCluster([0, FORMER], admin);
  const before = refreshed();
  const asked = cluster.fetchTopicsOffset([partitionsOf('kept', 0, 1)]);
  await expect(asked).rejects.toMatchObject({ type: 'NOT_LEADER_FOR_PARTITION' });
  expect([refreshed(), askedFormer()]).toEqual([before + 1, 1]);
});

const NOT_AVAILABLE = 15;
const NOT_AUTHORIZED = 30;
const UNKNOWN_SERVER_ERROR = -1;

/** @param errors of FindCoordinator, one after the other; behind the last one the coordinator is told */
async function lookUp(errors: readonly number[]): Promise<{ readonly nodeId: number } | Error> {
  let nth = 0;
  const broker: StubBroker = await StubBroker.start({
    metadata: () => metadataOf([broker]),
    findCoordinator: () => {
      const error = errors[nth];
      nth += 1;
      return error === undefined ? coordinatorOf(broker) : noCoordinator(error);
    },
  });
  const cluster = await clusterOf(broker, [], admin);
  open.push(broker, { close: () => void cluster.disconnect() });
  const asked = cluster.findGroupCoordinatorMetadata({ groupId: 'group', coordinatorType: 0 });
  return asked.then(
    (answer) => (answer as { readonly coordinator: { readonly nodeId: number } }).coordinator,
    (error: Error) => error,
  );
}

test('the admin client is told that no broker knows the coordinator of a group, or that an ACL forbids it', async () => {
  const found = await lookUp(Array(20).fill(NOT_AVAILABLE));
  expect(found).toMatchObject({ message: 'Failed to find group coordinator' });
  expect(await lookUp(Array(20).fill(NOT_AUTHORIZED))).toMatchObject({ type: 'GROUP_AUTHORIZATION_FAILED' });
  expect(await lookUp([UNKNOWN_SERVER_ERROR])).toMatchObject({ nodeId: 0 });
  expect(await lookUp([])).toMatchObject({ nodeId: 0 });
});
