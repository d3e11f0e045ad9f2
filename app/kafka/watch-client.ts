import type { Consumer } from 'kafkajs';
import type { ClientListener } from './client-listener.ts';

/** Tells the listener what kafkajs's consumer says of itself. */
export function watchClient(consumer: Consumer, listener: ClientListener): void {
  const { FETCH_START, REQUEST, HEARTBEAT, GROUP_JOIN, REBALANCING, CRASH } = consumer.events;
  let isJoining = true;
  consumer.on(FETCH_START, () => listener.onPoll());
  consumer.on(REQUEST, ({ payload: { apiName, duration, size } }) => {
    listener.onAnswer({ kind: apiName, milliseconds: duration, bytes: size });
  });
  consumer.on(HEARTBEAT, () => listener.onHeartbeat());
  consumer.on(REBALANCING, () => {
    isJoining = true;
  });
  consumer.on(GROUP_JOIN, ({ payload: { duration, memberAssignment } }) => {
    isJoining = false;
    const partitions = Object.values(memberAssignment).reduce((sum, numbers) => sum + numbers.length, 0);
    listener.onJoined({ milliseconds: duration, partitions });
  });
  consumer.on(CRASH, () => {
    listener.onCrashed({ wasJoining: isJoining });
    isJoining = true;
  });
}
