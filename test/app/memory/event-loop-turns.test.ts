import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { RecordSetReader } from '../../../app/kafka/fetch/record-set.ts';
import { EventLoopTurns } from '../../../app/memory/event-loop-turns.ts';
import { MemoryBudget } from '../../../app/memory/memory-budget.ts';
import { recordBatch } from '../kafka/fetch/record-sets.ts';

async function afterATurn() {
  const clock = { now: 0 };
  const turns = new EventLoopTurns(() => clock.now);
  await turns.afterTurn();
  return { turns, clock };
}

test('work that was given a turn goes on within it', async () => {
  const { turns, clock } = await afterATurn();
  clock.now += 1.9;
  expect(turns.afterTurn()).toBeNull();
});

test('work that takes longer waits until others had theirs, and then has another one', async () => {
  const { turns, clock } = await afterATurn();
  const others = turn('had its turn');
  clock.now += 2;
  const waiting = turns.afterTurn();
  expect(waiting).not.toBeNull();
  expect(await Promise.race([others, waiting])).toBe('had its turn');
  await waiting;
  expect(turns.afterTurn()).toBeNull();
});

test('a fetch of many batches is decoded over many turns of the event loop', async () => {
  const reader = new RecordSetReader(new MemoryBudget());
  const batch = recordBatch(0, 1_000);
  let turns = 0;
  let isDecoded = false;
  const others = (async () => {
    while (!isDecoded) {
      await turn();
      turns += 1;
    }
  })();
  for (let nth = 0; nth < 500; nth += 1) {
    await reader.read(batch, {});
  }
  isDecoded = true;
  await others;
  expect(turns).toBeGreaterThan(5);
});
