import { describe, expect, test } from '@jest/globals';
import { aBatch, PARTITION } from '../records.ts';
import type { Ending } from '../simulated-sink.ts';
import { AFTER_HANDOVER_MS, answerAll, settle, setUpOpened } from '../simulation.ts';

const HANDOVER_MS = AFTER_HANDOVER_MS - 1;

/** A member that has just won the partition, and whose waits end when the test says so. */
async function aWinner() {
  const parts = await setUpOpened(1_000n);
  parts.clock.holdWaits();
  const { pipeline, sink, clock, listener } = parts;
  /** Writes the next two records; unless it is told otherwise, another writer is first. */
  const write = async (how: Ending = 'answered', isFirst = false): Promise<void> => {
    const from = pipeline.positions()[0]?.offset ?? 0n;
    pipeline.onFetched(aBatch(from, from + 2n));
    await settle();
    sink.stored += isFirst || how !== 'answered' ? 0n : 1n;
    await answerAll(sink, how);
  };
  /** Ends the waits before attempts, and not those for an assignment. */
  const tryAgain = async (): Promise<void> => {
    clock.endWaits((ms) => ms < HANDOVER_MS);
    await settle();
  };
  const counts = () => ({
    handovers: listener.handovers.length,
    fenced: listener.fenced.length,
    failed: listener.failed.length,
    retries: listener.retries,
    pauses: listener.pauses,
    lastError: pipeline.report().lastError,
  });
  return { ...parts, write, tryAgain, counts };
}

/** The same, but it has owned the partition for long. */
async function anOwner() {
  const parts = await aWinner();
  parts.clock.pass(AFTER_HANDOVER_MS);
  return parts;
}

const NOTHING = { handovers: 0, fenced: 0, failed: 0, retries: 0, pauses: [], lastError: null };

describe('who won a partition less than 10 s ago', () => {
  test('and finds the offset moved counts a handover, nothing else, and goes on at once', async () => {
    const { write, counts, source, clock } = await aWinner();
    clock.pass(HANDOVER_MS);
    await write();
    expect(counts()).toEqual({ ...NOTHING, handovers: 1 });
    expect(source.told.slice(-2)).toEqual(['seek 1', 'resume']);
  });

  test('and waits for the offset in vain, and then finds it moved, counts one handover', async () => {
    const { write, tryAgain, counts, pipeline } = await aWinner();
    await write('locked');
    expect(pipeline.report().state).toBe('running');
    await tryAgain();
    await write();
    expect(counts()).toEqual({ ...NOTHING, handovers: 1 });
  });

  test('meets a second writer when the offset is moved again and again', async () => {
    const { write, tryAgain, counts, clock } = await aWinner();
    for (let times = 0; times < 4; times += 1) {
      await write();
      await tryAgain();
    }
    expect(counts()).toMatchObject({ handovers: 1, fenced: 2, retries: 2 });
    clock.endWaits();
    await settle();
    expect(counts()).toMatchObject({ handovers: 1, fenced: 3, retries: 3 });
  });

  test('is in an outage when PostgreSQL is away', async () => {
    const { write, counts } = await aWinner();
    await write('cut before');
    expect(counts()).toMatchObject({ handovers: 0, failed: 1, pauses: [true] });
  });

  test('does not gain by a generation that keeps the partition: what came 10 s after it was won is no handover', async () => {
    const { write, pipeline, clock, counts } = await aWinner();
    clock.pass(AFTER_HANDOVER_MS);
    pipeline.onAssigned({ added: [], owned: [PARTITION] });
    await write();
    clock.endWaits();
    await settle();
    expect(counts()).toMatchObject({ handovers: 0, fenced: 1, retries: 1 });
  });
});

describe('who has owned a partition for longer', () => {
  test('and finds the offset moved counts a second writer, once 10 s have passed without an assignment', async () => {
    const { write, tryAgain, counts, clock, source } = await anOwner();
    await write();
    expect(source.told.at(-1)).toBe('pause');
    await tryAgain();
    expect(source.told.at(-1)).toBe('resume');
    expect(counts()).toEqual(NOTHING);
    clock.endWaits();
    await settle();
    expect(counts()).toEqual({ ...NOTHING, fenced: 1, retries: 1 });
  });

  test('counts a handover when the next assignment takes the partition away', async () => {
    const { write, pipeline, counts, clock } = await anOwner();
    await write();
    await pipeline.onRevoked([PARTITION]);
    clock.endWaits();
    await settle();
    expect(counts()).toEqual({ ...NOTHING, handovers: 1 });
  });

  test('counts a second writer at once when the next assignment leaves the partition here', async () => {
    const { write, pipeline, counts } = await anOwner();
    await write();
    pipeline.onAssigned({ added: [], owned: [PARTITION] });
    expect(counts()).toEqual({ ...NOTHING, fenced: 1, retries: 1 });
  });

  test('counts a handover when the transaction that it ends after the revocation comes second', async () => {
    const { sink, pipeline, counts } = await anOwner();
    pipeline.onFetched(aBatch(0n, 2n));
    await settle();
    const revoked = pipeline.onRevoked([PARTITION]);
    sink.stored = 1n;
    await answerAll(sink);
    await revoked;
    expect(counts()).toEqual({ ...NOTHING, handovers: 1 });
  });

  test('counts one handover for what came before and after the revocation', async () => {
    const { sink, write, tryAgain, pipeline, counts } = await anOwner();
    await write('locked');
    await tryAgain();
    pipeline.onFetched(aBatch(0n, 2n));
    await settle();
    const revoked = pipeline.onRevoked([PARTITION]);
    await answerAll(sink, 'locked');
    await revoked;
    expect(counts()).toEqual({ ...NOTHING, handovers: 1 });
  });

  test('meets a second writer at once when it comes second twice', async () => {
    const { write, tryAgain, counts } = await anOwner();
    await write();
    await tryAgain();
    await write();
    expect(counts()).toMatchObject({ handovers: 0, fenced: 1 });
  });

  test('is in an outage at once when the offset is held twice, and 10 s later has failed twice', async () => {
    const { write, tryAgain, counts, clock } = await anOwner();
    await write('locked');
    expect(counts()).toEqual(NOTHING);
    await tryAgain();
    await write('locked');
    expect(counts()).toMatchObject({ failed: 1, pauses: [true], lastError: 'the offset is held' });
    clock.endWaits();
    await settle();
    expect(counts()).toMatchObject({ handovers: 0, failed: 2, pauses: [true, false] });
  });

  test('and ends counts what it had set aside', async () => {
    const { write, pipeline, counts } = await anOwner();
    await write();
    await pipeline.drain();
    await pipeline.close();
    expect(counts()).toMatchObject({ handovers: 0, fenced: 1 });
  });
});

test('a partition that is won, lost and won again counts a handover each time', async () => {
  const { write, tryAgain, pipeline, counts } = await aWinner();
  await write();
  await tryAgain();
  await write();
  void pipeline.onRevoked([PARTITION]);
  expect(counts().handovers).toBe(2);
  pipeline.onAssigned({ added: [PARTITION], owned: [PARTITION] });
  await settle();
  await write();
  expect(counts()).toEqual({ ...NOTHING, handovers: 3 });
});
