import { afterEach, expect, test } from '@jest/globals';
import { BrokerConnections } from '../../../../app/kafka/fetch/broker-connections.ts';
import { GroupCoordinator } from '../../../../app/kafka/group/coordinator.ts';
import { KafkajsEncoder } from '../../../../app/kafka/kafkajs/flexible-versions.ts';
import { createCluster } from '../../../../app/kafka/kafkajs/internals.ts';
import { systemClock } from '../../../../app/stream/ports/clock.ts';
import { until } from '../../../integration/stack/until.ts';
import { clientOf } from '../kafkajs/client.ts';
import {
  bytes,
  coordinatorOf,
  int16,
  int32,
  list,
  metadataOf,
  noCoordinator,
  type StubAnswer,
  StubBroker,
  text,
} from '../kafkajs/stub-broker.ts';

const COORDINATOR_NOT_AVAILABLE = 15;
const NOT_COORDINATOR = 16;
const NOT_AUTHORIZED = 30;

const open: { close(): void }[] = [];
afterEach(() => {
  for (const end of open.splice(0)) end.close();
});

const MEMBER = { memberId: 'member', generationId: 1 };

/** JoinGroup 0, for a member that leads the generation alone. */
const JOINED = Buffer.concat([int16(0), int32(1), text('sticky'), text('member'), text('member'), list([])]);

const POSITIONS = [{ topic: 'orders', partition: 0, offset: 5n }];

/** OffsetCommit 0, for one partition. */
const committed = (error: number): Buffer =>
  list([Buffer.concat([text('orders'), list([Buffer.concat([int32(0), int16(error)])])])]);

const NEVER: StubAnswer = () => new Promise(() => undefined);

type Kind = 'joinGroup' | 'syncGroup' | 'heartbeat' | 'leaveGroup' | 'offsetCommit' | 'findCoordinator';

/**
 * Two brokers, of which the first one coordinates until it is told otherwise.
 *
 * @param frozen the session time-out where the first one answers nothing; @default it answers
 */
async function aCoordinator(answers: Partial<Record<Kind, StubAnswer>> = {}, frozen?: { sessionTimeoutMs: number }) {
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

const connectionsOf = (requests: readonly { readonly connection: number }[]) =>
  new Set(requests.map(({ connection }) => connection));

test('joins go over one connection, and all other requests over another one', async () => {
  const { coordinator, first } = await aCoordinator();
  expect(await coordinator.join('', new Map([['sticky', Buffer.from('said')]]))).toMatchObject(MEMBER);
  expect((await coordinator.sync(MEMBER, new Map())).toString()).toBe('dealt');
  await coordinator.beat(MEMBER);
  await coordinator.leave('member');
  const [joins, others] = [['joinGroup', 'syncGroup'] as const, ['heartbeat', 'leaveGroup'] as const].map((names) =>
    connectionsOf(names.flatMap((name) => first.named(name))),
  );
  expect([joins?.size, others?.size]).toEqual([1, 1]);
  expect([...(joins ?? [])]).not.toEqual([...(others ?? [])]);
  expect(first.named('joinGroup')[0]?.body.toString()).toContain('said');
  expect(first.named('findCoordinator')).toHaveLength(1);
});

test('a beat is answered while a join waits', async () => {
  const { coordinator } = await aCoordinator({ joinGroup: () => new Promise(() => undefined) });
  const joined = coordinator.join('', new Map()).catch(({ message }: Error) => message);
  await coordinator.beat(MEMBER);
  coordinator.cutJoin();
  expect(await joined).toContain('closed');
  await coordinator.beat(MEMBER);
});

test('a join that is cut off leaves the other connection as it is, and the next one goes over a new one', async () => {
  let joins = 0;
  const joinGroup: StubAnswer = () => {
    joins += 1;
    return joins === 1 ? new Promise(() => undefined) : JOINED;
  };
  const { coordinator, first } = await aCoordinator({ joinGroup });
  await coordinator.beat(MEMBER);
  const cut = coordinator.join('', new Map()).catch(() => 'cut');
  await until('the join', async () => (joins > 0 ? true : undefined));
  coordinator.cutJoin();
  expect(await cut).toBe('cut');
  await coordinator.join('', new Map());
  await coordinator.beat(MEMBER);
  expect(connectionsOf(first.named('joinGroup')).size).toBe(2);
  expect(connectionsOf(first.named('heartbeat')).size).toBe(1);
  expect(first.named('findCoordinator')).toHaveLength(1);
});

test('a broker that coordinates the group no more is asked once, and the next one from then on', async () => {
  let error = 0;
  const { coordinator, first, second, move } = await aCoordinator({ heartbeat: () => int16(error) });
  await coordinator.beat(MEMBER);
  move();
  error = NOT_COORDINATOR;
  await expect(coordinator.beat(MEMBER)).rejects.toMatchObject({ type: 'NOT_COORDINATOR_FOR_GROUP' });
  error = 0;
  await coordinator.beat(MEMBER);
  expect([first.named('heartbeat').length, second.named('heartbeat').length]).toEqual([2, 1]);
});

test('an answer that the member is unknown leaves the connections as they are', async () => {
  const UNKNOWN_MEMBER_ID = 25;
  const { coordinator, first } = await aCoordinator({ heartbeat: () => int16(UNKNOWN_MEMBER_ID) });
  const unknown = { type: 'UNKNOWN_MEMBER_ID' };
  await expect(coordinator.beat(MEMBER)).rejects.toMatchObject(unknown);
  await expect(coordinator.beat(MEMBER)).rejects.toMatchObject(unknown);
  expect(connectionsOf(first.named('heartbeat')).size).toBe(1);
  expect(first.named('findCoordinator')).toHaveLength(1);
});

test('a connection that is lost is opened again by the next request, at the coordinator of then', async () => {
  const { coordinator, connections, first, second, move } = await aCoordinator();
  await connections.metadata(['orders'], new Set());
  await coordinator.beat(MEMBER);
  move();
  first.close();
  await coordinator.beat(MEMBER).catch(() => coordinator.beat(MEMBER));
  expect(second.named('heartbeat')).toHaveLength(1);
});

test('a coordinator that cannot be found is looked for by each request', async () => {
  let isKnown = false;
  const findCoordinator: StubAnswer = (request) =>
    isKnown ? coordinatorOf(theFirst(request), 0) : noCoordinator(COORDINATOR_NOT_AVAILABLE);
  let found: StubBroker | undefined;
  const theFirst = (_request: unknown): StubBroker => found as StubBroker;
  const { coordinator, first } = await aCoordinator({ findCoordinator });
  found = first;
  await expect(coordinator.beat(MEMBER)).rejects.toMatchObject({ type: 'GROUP_COORDINATOR_NOT_AVAILABLE' });
  isKnown = true;
  await coordinator.beat(MEMBER);
});

test('a group that an ACL forbids is one, whatever broker is asked', async () => {
  const { coordinator } = await aCoordinator({ findCoordinator: () => noCoordinator(NOT_AUTHORIZED) });
  await expect(coordinator.beat(MEMBER)).rejects.toMatchObject({ type: 'GROUP_AUTHORIZATION_FAILED' });
});

test('who forgets the coordinator fails what is under way, and finds it anew', async () => {
  let beats = 0;
  const heartbeat: StubAnswer = () => {
    beats += 1;
    return beats === 1 ? new Promise(() => undefined) : int16(0);
  };
  const { coordinator, first } = await aCoordinator({ heartbeat });
  const waiting = coordinator.beat(MEMBER).catch(({ name }: Error) => name);
  await until('the beat', async () => (beats > 0 ? true : undefined));
  coordinator.forget();
  expect(await waiting).toBe('KafkaJSConnectionError');
  await coordinator.beat(MEMBER);
  expect(first.named('findCoordinator')).toHaveLength(2);
});

test('commits go over a connection apart, and one that is not answered holds up no beat and no leave', async () => {
  const { coordinator, first } = await aCoordinator({ offsetCommit: NEVER });
  await coordinator.join('', new Map());
  const commit = coordinator.commit(MEMBER, POSITIONS, null).catch(() => 'cut');
  await until('the commit', async () => first.named('offsetCommit').length > 0 || undefined);
  await coordinator.beat(MEMBER);
  await coordinator.leave('member');
  const all = (['joinGroup', 'heartbeat', 'offsetCommit'] as const).map((name) => connectionsOf(first.named(name)));
  expect(new Set(all.flatMap((each) => [...each])).size).toBe(3);
  coordinator.forget();
  expect(await commit).toBe('cut');
});

test('while the brokers cannot store offsets, each commit fails and no connection is closed', async () => {
  const { coordinator, first } = await aCoordinator({ offsetCommit: () => committed(COORDINATOR_NOT_AVAILABLE) });
  const refused = { type: 'GROUP_COORDINATOR_NOT_AVAILABLE' };
  for (let commits = 0; commits < 3; commits += 1) {
    await coordinator.beat(MEMBER);
    await expect(coordinator.commit(MEMBER, POSITIONS, null)).rejects.toMatchObject(refused);
  }
  expect(connectionsOf(first.named('heartbeat')).size).toBe(1);
  expect(connectionsOf(first.named('offsetCommit')).size).toBe(1);
  expect(first.named('findCoordinator')).toHaveLength(1);
});

test('a commit at a broker that coordinates no more fails no join, and the next one finds the coordinator anew', async () => {
  const refusing = { error: NOT_COORDINATOR };
  const answers = { joinGroup: NEVER, offsetCommit: () => committed(refusing.error) };
  const { coordinator, first, second, move } = await aCoordinator(answers);
  const joined = coordinator.join('', new Map()).catch(() => 'cut');
  await coordinator.beat(MEMBER);
  move();
  await expect(coordinator.commit(MEMBER, POSITIONS, null)).rejects.toMatchObject({
    type: 'NOT_COORDINATOR_FOR_GROUP',
  });
  refusing.error = 0;
  await coordinator.commit(MEMBER, POSITIONS, null);
  expect(second.named('offsetCommit')).toHaveLength(1);
  await coordinator.beat(MEMBER);
  expect(connectionsOf(first.named('heartbeat')).size).toBe(1);
  expect(await Promise.race([joined, Promise.resolve('waits')])).toBe('waits');
});

test('a commit whose connection is lost closes that one alone', async () => {
  let commits = 0;
  let hangUp: (connection: number) => void = () => undefined;
  const offsetCommit: StubAnswer = ({ connection }) => {
    commits += 1;
    if (commits === 1) hangUp(connection);
    return committed(0);
  };
  const { coordinator, first } = await aCoordinator({ offsetCommit });
  hangUp = (connection) => first.hangUp(connection);
  await coordinator.beat(MEMBER);
  await expect(coordinator.commit(MEMBER, POSITIONS, null)).rejects.toThrow();
  await coordinator.commit(MEMBER, POSITIONS, null);
  await coordinator.beat(MEMBER);
  expect(connectionsOf(first.named('heartbeat')).size).toBe(1);
  expect(connectionsOf(first.named('offsetCommit')).size).toBe(2);
});

test('a commit of the protocol of KIP-848 goes over the connection of commits, too', async () => {
  const { coordinator, first } = await aCoordinator({ offsetCommit: NEVER });
  const OFFSET_COMMIT_KEY = 8;
  const request = {
    apiKey: OFFSET_COMMIT_KEY,
    apiVersion: 0,
    apiName: 'OffsetCommit',
    encode: async () => new KafkajsEncoder(),
  };
  const response = { decode: async () => null, parse: async () => null };
  const commit = coordinator.send({ request, response }).catch(() => 'cut');
  await until('the commit', async () => first.named('offsetCommit').length > 0 || undefined);
  await coordinator.beat(MEMBER);
  expect([...connectionsOf(first.named('offsetCommit'))]).not.toEqual([...connectionsOf(first.named('heartbeat'))]);
  coordinator.forget();
  expect(await commit).toBe('cut');
});

const UNTIL_CUT = { sessionTimeoutMs: 60_000 };

test('who forgets a coordinator that takes connections and answers nothing waits for it no longer', async () => {
  const { coordinator, first, second, move } = await aCoordinator({}, UNTIL_CUT);
  const asks = [coordinator.beat(MEMBER), coordinator.join('', new Map()), coordinator.commit(MEMBER, POSITIONS, null)];
  const failures = Promise.all(asks.map((ask) => ask.then(String, ({ name }: Error) => name)));
  await until('three connections', async () => connectionsOf(first.named('apiVersions')).size === 3 || undefined);
  move();
  coordinator.forget();
  expect(await failures).toEqual(Array(3).fill('KafkaJSConnectionError'));
  await until('all to be closed', async () => first.closed.size === 3 || undefined);
  await coordinator.beat(MEMBER);
  expect(second.named('heartbeat')).toHaveLength(1);
});

test('a join that still connects is cut off, too', async () => {
  const { coordinator, first } = await aCoordinator({}, UNTIL_CUT);
  const joined = coordinator.join('', new Map()).catch(({ name }: Error) => name);
  await until('the connection', async () => first.named('apiVersions').length > 0 || undefined);
  first.isFrozen = false;
  coordinator.cutJoin();
  expect(await joined).toBe('KafkaJSConnectionError');
  expect(await coordinator.join('', new Map())).toMatchObject(MEMBER);
});

test('a search for the coordinator that nobody answers is cut off, too', async () => {
  const { coordinator, first } = await aCoordinator({ findCoordinator: NEVER });
  const beat = coordinator.beat(MEMBER).catch(({ name }: Error) => name);
  await until('the search', async () => first.named('findCoordinator').length > 0 || undefined);
  coordinator.forget();
  expect(await beat).toBe('KafkaJSConnectionError');
});

test('a coordinator that answers nothing is given up by itself within the session, and found anew', async () => {
  const { coordinator, first, second } = await aCoordinator({}, { sessionTimeoutMs: 1_000 });
  const asks = [coordinator.beat(MEMBER), coordinator.commit(MEMBER, POSITIONS, null)];
  const failures = await Promise.all(asks.map((ask) => ask.then(String, ({ message }: Error) => message)));
  expect(failures).toEqual(Array(2).fill('the coordinator of the group took no connection within 333 ms'));
  first.isFrozen = false;
  const searches = second.named('findCoordinator').length;
  await coordinator.beat(MEMBER);
  await coordinator.commit(MEMBER, POSITIONS, null);
  expect(second.named('findCoordinator').length).toBeGreaterThan(searches);
});
