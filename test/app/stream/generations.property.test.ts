import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { step } from './generation-steps.ts';
import { END, Group, PARTITIONS, upTo } from './simulated-generations.ts';
import { settle } from './simulation.ts';

test('whoever joins, hands over, dies or is expelled, and learns of it late: each record is written once, and what is kept never stalls', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const group = new Group();
      group.join([]);
      for (const act of steps) {
        await settle();
        await act(group);
        for (const { stored, rows } of PARTITIONS.map((each) => group.sink.of(each))) {
          expect(rows).toEqual(upTo(stored));
        }
      }
      await group.calmDown();
      expect(PARTITIONS.map((each) => group.sink.of(each).rows)).toEqual(PARTITIONS.map(() => upTo(END)));
      expect(group.all.flatMap(({ consumer }) => consumer.fatal)).toEqual([]);
      expect(group.members.map(({ consumer }) => consumer.memory.held)).toEqual(group.members.map(() => 0));
    }),
    { numRuns: 150 },
  );
});
