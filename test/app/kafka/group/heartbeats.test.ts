import { expect, test } from '@jest/globals';
import type { InGeneration } from '../../../../app/kafka/group/coordinator.ts';
import type { MemberPorts } from '../../../../app/kafka/group/group-join.ts';
import { Heartbeats } from '../../../../app/kafka/group/heartbeats.ts';
import { MemberState } from '../../../../app/kafka/group/member-state.ts';
import { internals } from '../../../../app/kafka/kafkajs/internals.ts';
import { SimulatedTime } from './simulated-time.ts';

const REBALANCE_IN_PROGRESS = 27;

interface Beat {
  readonly member: InGeneration;
  answer(): void;
  refuse(code: number): void;
}

/** A member in generation 1, whose beats the test answers. */
async function aMember() {
  const clock = new SimulatedTime();
  const state = new MemberState();
  state.joined({ memberId: 'member', generationId: 1 });
  state.answered(clock.steady().getTime());
  state.assigned([]);
  const [beats, heard, forgotten]: [Beat[], string[], number[]] = [[], [], []];
  const coordinator = {
    beat: (member: InGeneration) =>
      new Promise<void>((resolve, reject) => {
        const refuse = (code: number) => reject(internals.createErrorFromCode(code));
        beats.push({ member, answer: resolve, refuse });
      }),
    forget: () => forgotten.push(clock.milliseconds),
  };
  const ending = new AbortController();
  const heartbeats = new Heartbeats(state, { coordinator, clock } as unknown as MemberPorts, 10_000, {
    onAnswered: () => heard.push('answered'),
    onRebalance: () => heard.push('rebalance'),
    onExpelled: () => heard.push('expelled'),
    onFailed: () => heard.push('failed'),
  });
  void heartbeats.run(ending.signal);
  return { clock, state, beats, heard, forgotten, ending };
}

test('a beat that is not answered closes the connections once, and another one follows at once', async () => {
  const { clock, beats, heard, forgotten } = await aMember();
  await clock.pass(1_000);
  expect(beats).toHaveLength(1);
  await clock.pass(8_000);
  expect(forgotten).toEqual([6_000]);
  expect(beats).toHaveLength(2);
  beats[1]?.answer();
  await clock.pass(3_000);
  expect(heard).toEqual(['answered']);
  expect(forgotten).toEqual([6_000]);
});

test('the late answer to a beat that was given up makes no room for a third one', async () => {
  const { clock, beats, heard } = await aMember();
  await clock.pass(6_500);
  expect(beats).toHaveLength(2);
  beats[0]?.answer();
  await clock.pass(2_000);
  expect(heard).toEqual(['answered']);
  expect(beats).toHaveLength(2);
});

test('a beat that was sent between JoinGroup and SyncGroup begins no other join, and the next one does', async () => {
  const { clock, state, beats, heard } = await aMember();
  state.joined({ memberId: 'member', generationId: 2 });
  await clock.pass(1_000);
  state.assigned([]);
  beats[0]?.refuse(REBALANCE_IN_PROGRESS);
  await clock.pass(1_000);
  expect(heard).toEqual(['answered']);
  beats[1]?.refuse(REBALANCE_IN_PROGRESS);
  await clock.pass(0);
  expect(heard).toEqual(['answered', 'answered', 'rebalance']);
});
