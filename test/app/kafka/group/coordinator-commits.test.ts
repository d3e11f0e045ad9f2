import { expect, test } from '@jest/globals';
import { KafkajsEncoder } from '../../../../app/kafka/kafkajs/flexible-versions.ts';
import { until } from '../../../integration/stack/until.ts';
import type { StubAnswer } from '../kafkajs/stub-broker.ts';
import {
  aCoordinator,
  COORDINATOR_NOT_AVAILABLE,
  committed,
  connectionsOf,
  MEMBER,
  NEVER,
  NOT_COORDINATOR,
  POSITIONS,
} from './two-brokers.ts';

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
