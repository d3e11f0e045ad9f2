import { afterEach, expect, test } from '@jest/globals';
import type { Consumer } from 'kafkajs';
import { internals } from '../../../../app/kafka/kafkajs/internals.ts';
import { commitOnce } from '../../../../app/kafka/kafkajs/membership-patches.ts';
import { until } from '../../../integration/stack/until.ts';
import { clientOf } from './client.ts';
import {
  bytes,
  coordinatorOf,
  int16,
  int32,
  list,
  metadataOf,
  type StubAnswer,
  StubBroker,
  type StubRequest,
  text,
} from './stub-broker.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const end of open.splice(0)) end.close();
});

const COORDINATOR_NOT_AVAILABLE = 15;
const UNKNOWN_MEMBER_ID = 25;
const REBALANCE_IN_PROGRESS = 27;

/** JoinGroup 0, for a member that leads the generation alone. */
const joined = (memberId: string): Buffer =>
  Buffer.concat([int16(0), int32(1), text('RoundRobinAssigner'), text(memberId), text(memberId), list([])]);

/** The member's id in JoinGroup 0. */
function memberOf({ body }: StubRequest): string {
  const decoder = new internals.Decoder(body);
  decoder.readString();
  decoder.readInt32();
  return decoder.readString() ?? '';
}

type Answers = Partial<Record<'joinGroup' | 'heartbeat' | 'leaveGroup', StubAnswer>>;
type Topics = Parameters<typeof metadataOf>[1];

/** A topic of so many partitions. */
const orders = (partitions: number): Topics => ({ orders: { partitions: Array(partitions).fill({ leader: 0 }) } });

const EVERY_FEW_MS = { maxWaitTimeInMs: 5, heartbeatInterval: 5, metadataMaxAge: 1 };

/** A broker that coordinates a group, and its consumer, of the topic `orders`, which has one partition at first. */
async function aMember(answers: Answers = {}, topics: () => Topics | Promise<Topics> = () => orders(1), retries = 0) {
  const broker: StubBroker = await StubBroker.start({
    metadata: async () => metadataOf([broker], await topics()),
    findCoordinator: () => coordinatorOf(broker),
    joinGroup: () => joined('member-1'),
    syncGroup: () => Buffer.concat([int16(0), bytes(Buffer.alloc(0))]),
    heartbeat: () => int16(0),
    leaveGroup: () => int16(0),
    ...answers,
  });
  const consumer = clientOf(broker).consumer({
    ...{ groupId: 'group', ...EVERY_FEW_MS },
    retry: { retries, initialRetryTime: 1, maxRetryTime: 5 },
  });
  const told: string[] = [];
  for (const event of ['CRASH', 'REBALANCING', 'GROUP_JOIN'] as const) {
    consumer.on(consumer.events[event], () => void told.push(event));
  }
  open.push(broker);
  await consumer.connect();
  await consumer.subscribe({ topics: ['orders'] });
  await run(consumer);
  return { broker, consumer, told };
}

const run = (consumer: Consumer): Promise<void> =>
  consumer.run({ autoCommit: false, eachBatch: async () => undefined });

test('a consumer that stops while it waits to join leaves its group over another connection, and does not join anew', async () => {
  let joins = 0;
  let answerJoin = (_answer: Buffer): void => undefined;
  const joinGroup: StubAnswer = () => {
    joins += 1;
    return joins === 1
      ? joined('member-1')
      : new Promise((resolve) => {
          answerJoin = resolve;
        });
  };
  const heartbeat: StubAnswer = () => int16(REBALANCE_IN_PROGRESS);
  const { broker, consumer } = await aMember({ joinGroup, heartbeat }, undefined, 5);
  await until('the second join', async () => joins > 1 || undefined);
  const stopped = consumer.disconnect();
  const left = await until('the consumer leaves', async () => broker.named('leaveGroup')[0]);
  const [, waiting] = broker.named('joinGroup');
  expect(left.connection).not.toBe(waiting?.connection);
  expect(left.body.toString()).toContain('member-1');
  answerJoin(Buffer.concat([int16(UNKNOWN_MEMBER_ID), int32(0), text(''), text(''), text(''), list([])]));
  await stopped;
  expect(joins).toBe(2);
});

test('a consumer that starts again after an outage joins as the member it was, and one that left as a new one', async () => {
  let beats = 0;
  const { broker, consumer, told } = await aMember({
    heartbeat: () => {
      beats += 1;
      return int16(beats === 1 ? COORDINATOR_NOT_AVAILABLE : 0);
    },
    leaveGroup: () => int16(beats === 1 ? COORDINATOR_NOT_AVAILABLE : 0),
  });
  await until('the first beat of the second life', async () => beats > 1 || undefined);
  expect(broker.named('joinGroup').map(memberOf)).toEqual(['', 'member-1']);
  await consumer.stop();
  await run(consumer);
  await until('the third join', async () => broker.named('joinGroup').length > 2 || undefined);
  expect(broker.named('joinGroup').map(memberOf)).toEqual(['', 'member-1', '']);
  await consumer.disconnect();
  expect(told).toContain('CRASH');
  const join = ['REBALANCING', 'GROUP_JOIN'];
  // So soon after the outage, a start may find the connections still closing, and crash once more.
  expect(told.filter((event) => event !== 'CRASH')).toEqual([...join, ...join, ...join]);
});

class Shipped extends internals.Runner {}
class Patched extends internals.Runner {}
commitOnce(Patched.prototype);

const logger = { debug: () => undefined, namespace: () => logger };

/** kafkajs's own runner, of a group that rejects the first commit with ILLEGAL_GENERATION and takes the second. */
function aRunner(Class: typeof Shipped) {
  const commits: unknown[] = [];
  const consumerGroup = {
    commitOffsets: async (offsets: unknown) => {
      commits.push(offsets);
      if (commits.length === 1) throw Object.assign(new Error('illegal generation'), { retriable: true });
    },
  };
  const retry = { initialRetryTime: 1, maxRetryTime: 1, retries: 5 };
  const runner = new Class({ logger, consumerGroup, retry, concurrency: 1, onCrash: () => undefined });
  return { runner: Object.assign(runner, { running: true }), commits };
}

test('as shipped, a commit that failed is tried again in the next generation, which is why it is patched', async () => {
  const { runner, commits } = aRunner(Shipped);
  await runner.commitOffsets('offsets');
  expect(commits).toEqual(['offsets', 'offsets']);
});

test('a commit that failed is not tried again, and whoever asked for it hears so', async () => {
  const { runner, commits } = aRunner(Patched);
  await expect(runner.commitOffsets('offsets')).rejects.toThrow('illegal generation');
  expect(commits).toEqual(['offsets']);
});

test('as shipped, a commit of a consumer that stops succeeds without being sent, which is why it is patched', async () => {
  const { runner, commits } = aRunner(Shipped);
  runner.running = false;
  await runner.commitOffsets('offsets');
  expect(commits).toEqual([]);
});

test('a commit of a consumer that stops is refused', async () => {
  const { runner, commits } = aRunner(Patched);
  runner.running = false;
  await expect(runner.commitOffsets('offsets')).rejects.toThrow('not committed');
  expect(commits).toEqual([]);
});
