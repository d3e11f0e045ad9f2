import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { IS_LONG_RUN } from '../../integration/stack/long-test.ts';
import { picks, type Step, step } from './generation-steps.ts';
import { END, Group, PARTITIONS, upTo } from './simulated-generations.ts';
import { settle } from './simulation.ts';

/** Of the other two topics nothing is known at the start. */
const FIRST = ['orders', 'payments'];

const topic = fc.constantFrom(...PARTITIONS.map((each) => each.topic));

const change = (act: (group: Group, of: string, dealt: readonly number[]) => void) =>
  fc.tuple(topic, picks).map(
    ([of, dealt]): Step =>
      (group) =>
        act(group, of, dealt),
  );

/** Each member learns what it owns, reads some of it, and all transactions that are under way end. */
const readOn: Step = async (group) => {
  for (const member of [...group.members]) {
    await group.learn(member);
    for (const partition of PARTITIONS) member.fetch(2, partition);
  }
  await settle();
  while (group.sink.end('answered')) await settle();
};

const changeOfTopics: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: change((group, of, dealt) => group.create(of, dealt)) },
  { weight: 1, arbitrary: change((group, of, dealt) => group.delete(of, dealt)) },
  { weight: 4, arbitrary: change((group, of) => group.breakTable(of)) },
  { weight: 3, arbitrary: change((group, of) => group.mendTable(of)) },
  { weight: 3, arbitrary: fc.constant<Step>((group) => group.lookAgain()) },
  { weight: 5, arbitrary: fc.constant<Step>(readOn) },
);

const steps = fc.array(fc.oneof(step, changeOfTopics), { maxLength: 60, size: 'max' });

test('whatever topics, tables and members come and go: each record is written once, and no process ends for a topic', async () => {
  let waited = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const group = new Group(FIRST, true);
      group.join([]);
      for (const act of all) {
        await settle();
        await act(group);
        await settle();
        waited += group.members.some(({ waiting }) => waiting.length > 0) ? 1 : 0;
        for (const { stored, rows } of PARTITIONS.map((each) => group.sink.of(each))) {
          expect(rows).toEqual(upTo(stored));
        }
      }
      for (const each of PARTITIONS) {
        group.mendTable(each.topic);
        group.create(each.topic, []);
      }
      await group.calmDown();
      for (const each of PARTITIONS) {
        const { stored, rows } = group.sink.of(each);
        expect(rows).toEqual(upTo(group.gone.has(each.topic) ? stored : END));
      }
      expect(group.all.flatMap(({ consumer }) => consumer.fatal)).toEqual([]);
      expect(group.members.map(({ consumer }) => consumer.memory.held)).toEqual(group.members.map(() => 0));
      expect(group.members.flatMap(({ waiting }) => waiting)).toEqual([]);
    }),
    { numRuns: IS_LONG_RUN ? 1_000 : 150 },
  );
  expect(waited).toBeGreaterThan(100);
});
