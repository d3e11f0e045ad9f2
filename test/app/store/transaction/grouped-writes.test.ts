import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { recordsOf } from '../../../../app/records/pack-records.ts';
import { GroupedWrites } from '../../../../app/store/transaction/grouped-writes.ts';
import type { WriteOutcome, WriteRequest } from '../../../../app/stream/ports/record-sink.ts';
import { FatalError, OutageError } from '../../../../app/stream/ports/stream-errors.ts';
import { IS_LONG_RUN } from '../../../integration/stack/long-test.ts';
import { aRecord } from '../../stream/records.ts';

const COMMITTED: WriteOutcome = { kind: 'committed', deadLetters: new Map(), rows: new Map() };
const FENCED: WriteOutcome = { kind: 'fenced' };

/** The topic whose records go to `shop.orders`. */
const HELD_UP = 'shop.public.orders';

const aRequest = (partition: number, records = 1, valueBytes = 10): WriteRequest => ({
  topic: 'orders',
  partition,
  expectedOffset: 0n,
  nextOffset: BigInt(records),
  records: recordsOf(
    Array.from({ length: records }, (_, nth) => aRecord(BigInt(nth), { key: null, value: Buffer.alloc(valueBytes) })),
  ),
});

type Answer = (outcome: readonly WriteOutcome[] | null | Error) => void;

/** Long enough for all groups that may be written: they begin one in a turn. */
async function turns(): Promise<void> {
  for (let count = 0; count < 10; count += 1) {
    await turn();
  }
}

/** Writers that write down what they are given; groups are answered by hand. */
class Desk {
  readonly alone: number[] = [];
  readonly groups: { readonly partitions: readonly number[]; readonly answer: Answer }[] = [];
  readonly writes: GroupedWrites;
  outcomeAlone: WriteOutcome = FENCED;

  constructor(limits: { maxBatchRecords?: number; poolSize?: number } = {}) {
    this.writes = new GroupedWrites(
      {
        alone: async ({ partition }) => {
          this.alone.push(partition);
          return this.outcomeAlone;
        },
        together: (requests) =>
          new Promise((resolve, reject) => {
            const answer: Answer = (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome));
            this.groups.push({ partitions: requests.map(({ partition }) => partition), answer });
          }),
        tablesOf: (topic) => [topic === HELD_UP ? 'shop.orders' : 'records'],
      },
      { maxBatchRecords: 5_000, poolSize: 1, ...limits },
    );
  }

  /** Hands requests on, all in one turn of the event loop. */
  async write(...requests: readonly WriteRequest[]) {
    const outcomes = requests.map((request) => this.writes.write(request).catch((error: Error) => error));
    await turns();
    return outcomes;
  }

  /** Resolves when so many groups have begun. */
  async until(groups: number): Promise<void> {
    while (this.groups.length < groups) {
      await turn();
    }
  }

  get partitions() {
    return this.groups.map(({ partitions }) => partitions);
  }
}

describe('a group that meets', () => {
  const heldUp = new OutageError('locked', { isLockWait: true, table: 'shop.orders' });

  test.each([
    ['a table that takes no rows for now', heldUp],
    ['a full disk', new OutageError('full', { table: 'shop.orders' })],
    ['a table that does not fit', new FatalError('TABLES_DO_NOT_FIT', 'no such table')],
  ])('%s is written again, each request alone', async (_, error) => {
    const desk = new Desk();
    const outcomes = await desk.write(aRequest(0), aRequest(1));
    desk.groups[0]?.answer(error);
    expect(await Promise.all(outcomes)).toEqual([FENCED, FENCED]);
    expect(desk.alone).toEqual([0, 1]);
  });

  describe('a table of some of its requests that takes no rows is written again', () => {
    const held = (partition: number) => ({ ...aRequest(partition), topic: HELD_UP });

    test.each([
      ['for now', heldUp],
      ['as its disk is full', new OutageError('full', { table: 'shop.orders' })],
      ['as it does not fit', new FatalError('TABLES_DO_NOT_FIT', 'no such table', { topic: HELD_UP })],
    ])('%s: the others together, and those alone', async (_, error) => {
      const desk = new Desk();
      const outcomes = await desk.write(aRequest(0), held(1), aRequest(2));
      desk.groups[0]?.answer(error);
      await desk.until(2);
      desk.groups[1]?.answer([COMMITTED, COMMITTED]);
      expect(await Promise.all(outcomes)).toEqual([COMMITTED, FENCED, COMMITTED]);
      expect([desk.alone, desk.partitions]).toEqual([
        [1],
        [
          [0, 1, 2],
          [0, 2],
        ],
      ]);
    });

    test('in small groups, one of which may meet another such table, and before what came later', async () => {
      const desk = new Desk();
      const numbers = Array.from({ length: 40 }, (_, partition) => partition);
      await desk.write(...numbers.map((partition) => (partition === 3 ? held(partition) : aRequest(partition))));
      await desk.write(aRequest(40));
      for (const [nth, answer] of [heldUp, null, [], []].entries()) {
        await desk.until(nth + 1);
        const { partitions = [] } = desk.groups[nth] ?? {};
        desk.groups[nth]?.answer(answer instanceof Error || answer === null ? answer : partitions.map(() => COMMITTED));
      }
      await desk.until(5);
      const others = numbers.filter((partition) => partition !== 3);
      const groups = [others.slice(0, 16), others.slice(16, 32), others.slice(32), [40]];
      expect([desk.partitions.slice(1), desk.alone]).toEqual([groups, [3, ...(groups[0] ?? [])]]);
    });

    test('together once: where that fails, each alone', async () => {
      const desk = new Desk();
      const outcomes = await desk.write(held(0), aRequest(1), aRequest(2));
      desk.groups[0]?.answer(heldUp);
      await desk.until(2);
      desk.groups[1]?.answer(new OutageError('locked', { isLockWait: true, table: 'records' }));
      expect(await Promise.all(outcomes)).toEqual([FENCED, FENCED, FENCED]);
      expect(desk.alone).toEqual([0, 1, 2]);
      expect(desk.groups).toHaveLength(2);
    });
  });

  test.each([
    ['an outage', new OutageError('away')],
    ['a record that is there already', new FatalError('RECORD_ALREADY_WRITTEN', 'there')],
    ['rows that were dropped and committed', new FatalError('ROWS_DROPPED', 'dropped', { topic: null })],
  ])('%s gives the error to each request', async (_, error) => {
    const desk = new Desk();
    const outcomes = await desk.write(aRequest(0), aRequest(1));
    desk.groups[0]?.answer(error);
    expect([await Promise.all(outcomes), desk.alone]).toEqual([[error, error], []]);
  });
});

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
      await desk.write(aRequest(partition));
    }
    await desk.until(3);
    await desk.write(aRequest(3));
    await desk.write(aRequest(4));
    await desk.until(4);
    // The fifth one goes along with the fourth where that has to wait as well.
    const [first, second, third, fourth = [], ...others] = desk.partitions;
    expect([first, second, third, others]).toEqual([[0], [1], [2], []]);
    expect([[3], [3, 4]]).toContainEqual(fourth);
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

describe('a group that cannot be written as one', () => {
  test('is written one by one', async () => {
    const desk = new Desk();
    const outcomes = await desk.write(aRequest(0), aRequest(1));
    desk.groups[0]?.answer(null);
    expect(await Promise.all(outcomes)).toEqual([FENCED, FENCED]);
    expect(desk.alone).toEqual([0, 1]);
  });

  test('holds nobody up while one of it waits', async () => {
    const desk = new Desk();
    await desk.write(aRequest(0));
    await desk.write(aRequest(1));
    desk.groups[0]?.answer(null);
    await turns();
    expect(desk.partitions).toEqual([[0], [1]]);
  });

  test.each<[string, null | Error]>([
    ['it was not written', null],
    ['it failed', new Error('away')],
  ])('makes its partitions go alone until they have committed alone when %s', async (_, end) => {
    const desk = new Desk();
    await desk.write(aRequest(0), aRequest(1));
    desk.groups[0]?.answer(end);
    await turns();
    desk.alone.length = 0;
    desk.outcomeAlone = COMMITTED;
    await desk.write(aRequest(0), aRequest(2));
    expect(desk).toMatchObject({ alone: [0], partitions: [[0, 1], [2]] });
    desk.groups[1]?.answer([COMMITTED]);
    await turns();
    await desk.write(aRequest(0), aRequest(1));
    expect(desk).toMatchObject({ alone: [0, 1], partitions: [[0, 1], [2], [0]] });
  });

  test.each<[string, WriteOutcome]>([
    ['is fenced', FENCED],
    ['has dead letters', { kind: 'committed', deadLetters: new Map([['invalid_json', 1]]), rows: new Map() }],
  ])('keeps a partition alone that %s', async (_, outcome) => {
    const desk = new Desk();
    desk.outcomeAlone = outcome;
    await desk.write(aRequest(0), aRequest(1));
    desk.groups[0]?.answer(null);
    await turns();
    desk.outcomeAlone = COMMITTED;
    await desk.write(aRequest(0));
    expect(desk.partitions).toEqual([[0, 1]]);
  });

  test('and whose outcome is not known gives its error to each, and is not written again', async () => {
    const desk = new Desk();
    const outcomes = await desk.write(aRequest(0), aRequest(1));
    const error = new Error('connection lost');
    desk.groups[0]?.answer(error);
    expect(await Promise.all(outcomes)).toEqual([error, error]);
    expect(desk.alone).toEqual([]);
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
