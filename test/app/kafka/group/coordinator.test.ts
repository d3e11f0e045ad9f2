import { expect, test } from '@jest/globals';
import { until } from '../../../integration/stack/until.ts';
import { coordinatorOf, int16, noCoordinator, type StubAnswer, type StubBroker } from '../kafkajs/stub-broker.ts';
import {
  aCoordinator,
  COORDINATOR_NOT_AVAILABLE,
  connectionsOf,
  JOINED,
  MEMBER,
  NEVER,
  NOT_COORDINATOR,
  POSITIONS,
} from './two-brokers.ts';

const NOT_AUTHORIZED = 30;

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
