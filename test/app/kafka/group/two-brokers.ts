import { afterEach } from '@jest/globals';
import { BrokerConnections } from '../../../../app/kafka/fetch/broker-connections.ts';
import { GroupCoordinator } from '../../../../app/kafka/group/coordinator.ts';
import { createCluster } from '../../../../app/kafka/kafkajs/internals.ts';
import { systemClock } from '../../../../app/stream/ports/clock.ts';
import { clientOf } from '../kafkajs/client.ts';
import {
  bytes,
  coordinatorOf,
  int16,
  int32,
  list,
  metadataOf,
  type StubAnswer,
  StubBroker,
  text,
} from '../kafkajs/stub-broker.ts';

export const COORDINATOR_NOT_AVAILABLE = 15;
export const NOT_COORDINATOR = 16;

const open: { close(): void }[] = [];
afterEach(() => {
  for (const end of open.splice(0)) end.close();
});

export const MEMBER = { memberId: 'member', generationId: 1 };

/** JoinGroup 0, for a member that leads the generation alone. */
export const JOINED = Buffer.concat([int16(0), int32(1), text('sticky'), text('member'), text('member'), list([])]);

export const POSITIONS = [{ topic: 'orders', partition: 0, offset: 5n }];

/** OffsetCommit 0, for one partition. */
export const committed = (error: number): Buffer =>
  list([Buffer.concat([text('orders'), list([Buffer.concat([int32(0), int16(error)])])])]);

export const NEVER: StubAnswer = () => new Promise(() => undefined);

type Kind = 'joinGroup' | 'syncGroup' | 'heartbeat' | 'leaveGroup' | 'offsetCommit' | 'findCoordinator';

/**
 * Two brokers, of which the first one coordinates until a test moves that.
 *
 * @param frozen the session time-out where the first one answers nothing; @default it answers
 */
export async function aCoordinator(
  answers: Partial<Record<Kind, StubAnswer>> = {},
  frozen?: { sessionTimeoutMs: number },
) {
  let coordinating = 0;
  const all: Record<string, StubAnswer> = {
    metadata: () => metadataOf(brokers),
    findCoordinator: () => coordinatorOf(brokers[coordinating] ?? first, coordinating),
    joinGroup: () => JOINED,
    syncGroup: () => Buffer.concat([int16(0), bytes(Buffer.from('dealt'))]),
    heartbeat: () => int16(0),
    leaveGroup: () => int16(0),
    offsetCommit: () => committed(0),
    ...answers,
  };
  const first = await StubBroker.start(all);
  const second = await StubBroker.start(all);
  const brokers = [first, second];
  first.isFrozen = frozen !== undefined;
  const cluster = createCluster(clientOf(first.isFrozen ? second : first), {
    metadataMaxAge: 0,
    allowAutoTopicCreation: false,
  });
  const connections = new BrokerConnections(cluster, systemClock);
  const coordinator = new GroupCoordinator(connections, { groupId: 'group', sessionTimeoutMs: 10_000, ...frozen });
  open.push(...brokers, coordinator);
  const move = (): void => {
    coordinating = 1;
  };
  return { coordinator, connections, first, second, move };
}

export const connectionsOf = (requests: readonly { readonly connection: number }[]) =>
  new Set(requests.map(({ connection }) => connection));
