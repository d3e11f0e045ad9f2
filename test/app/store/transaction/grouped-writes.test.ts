import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { OutageError } from '../../../../app/stream/ports/stream-errors.ts';
import { IS_LONG_RUN } from '../../../integration/stack/long-test.ts';
import { aRequest, BOTH, COMMITTED, Desk, FENCED, HELD_UP, turns } from './write-desk.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

/** A topic for each partition, so a table for each. */
const ofOtherTable = (partition: number) => ({ ...aRequest(partition), topic: `orders.${partition}` });

describe('requests of one turn of the event loop', () => {
  test('are one group, and each gets its own outcome', async () => {
    const desk = new Desk();
    const outcomes = await desk.write(aRequest(0), aRequest(1), aRequest(2));
    expect(desk.partitions).toEqual([[0, 1, 2]]);
    desk.groups[0]?.answer([COMMITTED, FENCED, COMMITTED]);
    expect(await Promise.all(outcomes)).toEqual([COMMITTED, FENCED, COMMITTED]);
  });

  test('are several groups when they are more than two mebibytes', async () => {
    const desk = new Desk({ poolSize: 4 });
    await desk.write(aRequest(0, 1, 1_200_000), aRequest(1, 1, 800_000), aRequest(2, 1, 200_000));
    expect(desk.partitions).toEqual([[0, 1], [2]]);
  });

  test('are never more than one transaction may write', async () => {
    const desk = new Desk({ poolSize: 4, maxBatchRecords: 250 });
    await desk.write(aRequest(0, 150), aRequest(1, 100), aRequest(2, 1), aRequest(3, 249));
    expect(desk.partitions).toEqual([
      [0, 1],
      [2, 3],
    ]);
  });
});

describe('a request', () => {
  test('without records has a transaction alone', async () => {
    const desk = new Desk();
    expect(await Promise.all(await desk.write(aRequest(0, 0)))).toEqual([FENCED]);
    expect(desk).toMatchObject({ alone: [0], partitions: [] });
  });

  test('that is larger than a group may be is a group alone', async () => {
    const desk = new Desk();
    await desk.write(aRequest(0, 1, 3_000_000), aRequest(1));
    expect(desk.partitions).toEqual([[0]]);
  });

  test('that comes while there is a connection for it waits for no other', async () => {
    const desk = new Desk({ poolSize: 2 });
    await desk.write(aRequest(0));
    await desk.write(aRequest(1));
    expect(desk.partitions).toEqual([[0], [1]]);
  });

  test('that comes while two groups are written waits for one of them, though there are connections', async () => {
    // On a busy machine the turns may take so long that the groups count as those that wait themselves.
    jest.spyOn(performance, 'now').mockReturnValue(0);
    const desk = new Desk({ poolSize: 4 });
    for (const partition of [0, 1, 2, 3]) {
      await desk.write(aRequest(partition));
    }
    expect(desk.partitions).toEqual([[0], [1]]);
    desk.groups[0]?.answer([COMMITTED]);
    await turns();
    expect(desk.partitions).toEqual([[0], [1], [2, 3]]);
  });

  test('waits for none that waits itself, while there are connections', async () => {
    const desk = new Desk({ poolSize: 4 });
    for (const partition of [0, 1, 2]) {
      await desk.write(ofOtherTable(partition));
    }
    await desk.until(3);
    await desk.write(ofOtherTable(3));
    await desk.write(ofOtherTable(4));
    await desk.until(4);
    // The fifth one goes along with the fourth where that has to wait as well.
    const [first, second, third, fourth = [], ...others] = desk.partitions;
    expect([first, second, third, others]).toEqual([[0], [1], [2], []]);
    expect([[3], [3, 4]]).toContainEqual(fourth);
  });

  test('goes beside a group that waits only where it needs none of its tables', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    const desk = new Desk({ poolSize: 4 });
    await desk.write(aRequest(0), ofOtherTable(1));
    now.mockReturnValue(100);
    await desk.write(aRequest(2), ofOtherTable(1), ofOtherTable(3), aRequest(4), ofOtherTable(5));
    expect(desk.partitions).toEqual([
      [0, 1],
      [3, 5],
    ]);
    desk.groups[0]?.answer([COMMITTED, COMMITTED]);
    await turns();
    expect(desk.partitions.slice(2)).toEqual([[2, 1, 4]]);
  });

  test('that waits behind a table goes alone once that is known to be held up', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    const desk = new Desk({ poolSize: 4 });
    await desk.write({ ...aRequest(0), topic: HELD_UP }, ofOtherTable(1));
    now.mockReturnValue(100);
    await desk.write({ ...aRequest(2), topic: HELD_UP }, ofOtherTable(1));
    desk.groups[0]?.answer(new OutageError('locked', { isLockWait: true, table: 'shop.orders' }));
    await turns();
    expect([desk.partitions, desk.alone]).toEqual([
      [[0, 1], [1], [1]],
      [2, 0],
    ]);
  });

  test('of several tables is not overtaken for one of them by what comes later', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    const desk = new Desk({ poolSize: 4 });
    const both = { ...aRequest(7), topic: BOTH };
    await desk.write(ofOtherTable(1));
    now.mockReturnValue(100);
    await desk.write(both, ofOtherTable(2), ofOtherTable(3));
    expect(desk.partitions).toEqual([[1], [3]]);
    desk.groups[0]?.answer([COMMITTED]);
    await turns();
    expect(desk.partitions).toEqual([[1], [3], [7, 2]]);
  });

  test('goes beside a group of its table that waits where no other table could be held up', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    const desk = new Desk({ poolSize: 4 });
    desk.isOneTable = true;
    await desk.write(aRequest(0));
    now.mockReturnValue(100);
    await desk.write(aRequest(1));
    expect(desk.partitions).toEqual([[0], [1]]);
  });

  test('that comes while there is none waits, and goes with all that came meanwhile', async () => {
    const desk = new Desk({ poolSize: 2 });
    for (const partition of [0, 1, 2, 3]) {
      await desk.write(aRequest(partition));
    }
    expect(desk.partitions).toEqual([[0], [1]]);
    desk.groups[1]?.answer([COMMITTED]);
    await turns();
    expect(desk.partitions).toEqual([[0], [1], [2, 3]]);
  });
});

test('whatever becomes of the groups, each request is handed on in order and is answered once', async () => {
  const step = fc.record({ requests: fc.integer({ min: 1, max: 20 }), records: fc.integer({ min: 1, max: 200 }) });
  const ends = fc.array(fc.constantFrom<'committed' | 'null' | 'error'>('committed', 'null', 'error'), {
    minLength: 1,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 8 }),
      ends,
      fc.integer({ min: 1, max: 4 }),
      async (steps, how, poolSize) => {
        const desk = new Desk({ poolSize });
        const outcomes: Promise<unknown>[] = [];
        let answered = 0;
        const answerNext = () => {
          const group = desk.groups[answered];
          const end = how[answered % how.length];
          answered += group ? 1 : 0;
          const all = group?.partitions.map(() => COMMITTED) ?? [];
          group?.answer(end === 'error' ? new Error('away') : end === 'null' ? null : all);
        };
        for (const { requests, records } of steps) {
          const first = outcomes.length;
          outcomes.push(
            ...(await desk.write(...Array.from({ length: requests }, (_, nth) => aRequest(first + nth, records)))),
          );
          answerNext();
        }
        let settled = 0;
        const all = Promise.all(outcomes.map((outcome) => outcome.then(() => (settled += 1))));
        while (settled < outcomes.length) {
          answerNext();
          await turn();
        }
        await all;
        const grouped = desk.partitions.flat();
        expect(grouped).toEqual([...grouped].sort((a, b) => a - b));
        const given = new Set([...grouped, ...desk.alone]);
        expect(given.size).toBe(outcomes.length);
        const failed = desk.groups.flatMap(({ partitions }, nth) =>
          how[nth % how.length] === 'null' ? partitions : [],
        );
        expect(desk.alone.length + grouped.length).toBe(outcomes.length + failed.length);
      },
    ),
    { numRuns: IS_LONG_RUN ? 1_000 : 30 },
  );
});
