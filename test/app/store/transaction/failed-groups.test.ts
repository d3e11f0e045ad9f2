import { describe, expect, test } from '@jest/globals';
import type { WriteOutcome } from '../../../../app/stream/ports/record-sink.ts';
import { FatalError, OutageError } from '../../../../app/stream/ports/stream-errors.ts';
import { aRequest, COMMITTED, Desk, FENCED, HELD_UP, turns } from './write-desk.ts';

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
