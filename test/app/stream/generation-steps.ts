import fc from 'fast-check';
import { type Group, MOST_MEMBERS, PARTITIONS } from './simulated-generations.ts';
import type { Ending } from './simulated-sink.ts';

export type Step = (group: Group) => Promise<void> | void;

const nth = fc.nat({ max: MOST_MEMBERS - 1 });
export const picks = fc.array(nth, { minLength: PARTITIONS.length, maxLength: PARTITIONS.length });
const partition = fc.constantFrom(...PARTITIONS);
const ending = fc.constantFrom<Ending>('answered', 'answered', 'answered', 'cut before', 'cut after', 'locked');

/** What happens to members and to the transactions that they have under way. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: picks.map(
      (dealt): Step =>
        (group) =>
          group.join(dealt),
    ),
  },
  {
    weight: 2,
    arbitrary: picks.map(
      (dealt): Step =>
        (group) =>
          group.deal(dealt),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(nth, picks).map(
      ([who, dealt]): Step =>
        (group) =>
          group.handOver(who, dealt),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(nth, picks).map(
      ([who, dealt]): Step =>
        (group) =>
          group.kill(who, dealt),
    ),
  },
  {
    weight: 1,
    arbitrary: nth.map(
      (who): Step =>
        (group) =>
          group.member(who)?.expel(),
    ),
  },
  {
    weight: 5,
    arbitrary: nth.map(
      (who): Step =>
        async (group) => {
          const member = group.member(who);
          await (member && group.learn(member));
        },
    ),
  },
  {
    weight: 8,
    arbitrary: fc.tuple(nth, fc.integer({ min: 1, max: 9 }), partition).map(
      ([who, length, of]): Step =>
        (group) =>
          group.member(who)?.fetch(length, of),
    ),
  },
  {
    weight: 8,
    arbitrary: ending.map(
      (how): Step =>
        (group) =>
          void group.sink.end(how),
    ),
  },
);
