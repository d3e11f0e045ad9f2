import { describe, expect, test } from '@jest/globals';
import type { Position } from '../../../app/stream/ports/record-source.ts';
import { OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { aMember, KEPT, OTHER } from './owning-member.ts';
import { aBatch } from './records.ts';
import { answerAll, settle } from './simulation.ts';

describe('a partition that is revoked', () => {
  test('ends its transaction, drops its queue, and is fetched no more', async () => {
    const { sink, source, pipeline } = await aMember();
    pipeline.onFetched(aBatch(0n, 10n));
    await settle();
    const revoked = pipeline.onRevoked([KEPT]);
    pipeline.onFetched(aBatch(10n, 12n));
    await answerAll(sink);
    await revoked;
    expect(sink.stored).toBe(5n);
    expect(source.told).toEqual([]);
    expect(pipeline.report()).toMatchObject({ state: 'assigning', partitions: [] });
  });

  test('of a deleted topic is written to its end first', async () => {
    const { sink, pipeline } = await aMember();
    pipeline.onFetched(aBatch(0n, 10n));
    pipeline.onTopics([KEPT.topic], new Map());
    const revoked = pipeline.onRevoked([KEPT]);
    await answerAll(sink);
    await revoked;
    expect(sink.stored).toBe(10n);
  });

  test('is told as one that nothing is known of, until a generation says that the member owns nothing', async () => {
    const { pipeline } = await aMember();
    await pipeline.onRevoked([KEPT]);
    expect(pipeline.report().state).toBe('assigning');
    pipeline.onAssigned({ added: [], owned: [] });
    await settle();
    expect(pipeline.report().state).toBe('running');
  });

  test('while its position cannot be read ends the outage, and the kept ones are running', async () => {
    const { sink, pipeline, clock, listener } = await aMember([KEPT, OTHER]);
    clock.holdWaits();
    pipeline.onFetched({ ...aBatch(0n, 3n), ...OTHER });
    await answerAll(sink, 'cut before');
    expect(pipeline.report().state).toBe('paused');
    await pipeline.onRevoked([OTHER]);
    expect(listener.pauses).toEqual([true, false]);
    expect(pipeline.report().state).toBe('running');
  });
});

test('positions can be followed beyond the revocation of their partitions', async () => {
  const { pipeline, sink } = await aMember();
  pipeline.onFetched(aBatch(0n, 5n));
  await settle();
  const follow = pipeline.followPositions();
  const revoked = pipeline.onRevoked([KEPT]);
  expect(pipeline.positions()).toEqual([]);
  await answerAll(sink);
  await revoked;
  const expected: Position[] = [{ ...KEPT, offset: 5n }];
  expect(follow()).toEqual(expected);
});

test('what cannot be opened counts as paused no longer once it is revoked', async () => {
  const { pipeline, sink, clock, listener } = await aMember();
  const positions = sink.positions.bind(sink);
  sink.positions = (topics) =>
    topics.includes(OTHER.topic) ? Promise.reject(new OutageError('away')) : positions(topics);
  clock.holdWaits();
  pipeline.onAssigned({ added: [OTHER], owned: [KEPT, OTHER] });
  await settle();
  expect(pipeline.report().state).toBe('paused');
  await pipeline.onRevoked([OTHER]);
  pipeline.onAssigned({ added: [], owned: [KEPT] });
  await settle();
  expect(listener.pauses.at(-1)).toBe(false);
});

test('what is revoked while its offset is looked for is given up at once; closing waits for the brokers', async () => {
  const { pipeline, source } = await aMember();
  const answers: (() => void)[] = [];
  const logRanges = source.logRanges.bind(source);
  source.logRanges = async (topic) => {
    await new Promise<void>((answer) => answers.push(answer));
    return logRanges(topic);
  };
  pipeline.onOutOfRange(KEPT);
  await settle();
  const ended: string[] = [];
  void pipeline.onRevoked([KEPT]).then(() => ended.push('revoked'));
  await settle();
  expect(ended).toEqual(['revoked']);
  const closed = pipeline.close().then(() => ended.push('closed'));
  await settle();
  expect(ended).toEqual(['revoked']);
  for (const answer of answers) answer();
  await closed;
});

test('draining waits for the transaction of what was revoked', async () => {
  const { pipeline, sink } = await aMember();
  pipeline.onFetched(aBatch(0n, 5n));
  await settle();
  void pipeline.onRevoked([KEPT]);
  let isDrained = false;
  const drained = pipeline.drain().then(() => {
    isDrained = true;
  });
  await settle();
  expect(isDrained).toBe(false);
  await answerAll(sink);
  await drained;
});
