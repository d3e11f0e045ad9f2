import { describe, expect, test } from '@jest/globals';
import { droppedRows } from '../../../../app/store/transaction/refusing-table.ts';
import { epochUnknown, logTruncated } from '../../../../app/stream/partition/topic-ids.ts';
import type { Gap } from '../../../../app/stream/ports/record-sink.ts';
import { FatalError, OutageError } from '../../../../app/stream/ports/stream-errors.ts';
import type { FatalCode } from '../../../../contract/fatal-codes.ts';
import { PARTITION } from '../records.ts';
import { SimulatedSink } from '../simulated-sink.ts';
import { answerAll, assignAnew, settle } from '../simulation.ts';
import { MISFIT, OTHER, refusingSink, setUpAssigned, setUpWaiting, WAITING } from './waiting-pipeline.ts';

test('a topic whose table does not fit waits, the others flow, and it begins where it was', async () => {
  const sink = new SimulatedSink([PARTITION, WAITING, OTHER]);
  sink.misfitting.set(WAITING.topic, MISFIT);
  sink.of(WAITING).stored = 2n;
  const { deliver, lookAgain, pipeline, fatal, waits, goesOn } = await setUpAssigned(sink);
  expect([await deliver(PARTITION), await deliver(), await deliver(OTHER)]).toEqual([true, false, false]);
  await answerAll(sink);
  expect([sink.rows, sink.of(WAITING).rows]).toEqual([[0n, 1n, 2n], []]);
  expect(pipeline.report()).toMatchObject({ state: 'running', waiting: [{ topic: WAITING.topic }] });
  expect([await lookAgain(), await lookAgain()]).toEqual([1, 1]);
  expect(waits).toMatchObject([{ topic: WAITING.topic, code: 'TABLES_DO_NOT_FIT', message: MISFIT.message }]);

  sink.misfitting.clear();
  await lookAgain();
  expect(goesOn).toEqual([`${WAITING.topic} after 30 s`]);
  expect(pipeline.report()).not.toHaveProperty('waiting');
  await deliver(WAITING, 6);
  await answerAll(sink);
  expect(sink.of(WAITING).rows).toEqual([2n, 3n, 4n, 5n]);
  expect(fatal).toEqual([]);
});

test('an error of its records drops what is queued, and each record is written once when it goes on', async () => {
  const sink = refusingSink();
  const { source, deliver, lookAgain, pipeline, waits, goesOn, fatal } = await setUpAssigned(sink);
  await deliver(OTHER);
  const written = sink.pending.length;
  sink.refusal = new FatalError('TABLE_REFUSES_ROWS', 'the table refuses each row');
  await deliver();
  expect([written, source.of(WAITING).isPaused, source.of(OTHER).isPaused]).toEqual([1, true, true]);
  await answerAll(sink);
  expect(sink.of(OTHER).rows).toEqual([0n, 1n, 2n]);
  expect(pipeline.report()).toMatchObject({ waiting: [{ code: 'TABLE_REFUSES_ROWS' }] });

  await lookAgain();
  await deliver();
  await lookAgain();
  expect(waits).toHaveLength(1);
  sink.refusal = null;
  await deliver();
  expect(goesOn).toEqual([]);
  await answerAll(sink);
  expect(goesOn).toHaveLength(1);
  expect(sink.of(WAITING).rows).toEqual([0n, 1n, 2n]);
  expect(fatal).toEqual([]);
});

test('a topic goes on once it was read for a minute, though nothing came to be written', async () => {
  const sink = refusingSink();
  const { deliver, lookAgain, pipeline, clock, goesOn } = await setUpAssigned(sink);
  sink.refusal = new FatalError('TOO_MANY_DEAD_LETTERS', 'too many');
  await deliver();
  await lookAgain();
  const log = { ...WAITING, start: 0n, end: 0n };
  clock.pass(59_000);
  pipeline.onLog(log);
  expect(goesOn).toEqual([]);
  clock.pass(1_000);
  pipeline.onLog(log);
  expect(goesOn).toHaveLength(1);
});

describe('the process ends as before', () => {
  test('with an error of a named topic', async () => {
    const sink = new SimulatedSink([PARTITION, WAITING, OTHER]);
    const { deliver, pipeline, fatal } = await setUpAssigned(sink);
    sink.write = () => Promise.reject(new FatalError('TABLE_REFUSES_ROWS', 'the table refuses each row'));
    await deliver(PARTITION);
    expect(fatal).toMatchObject([{ code: 'TABLE_REFUSES_ROWS' }]);
    expect(pipeline.report().state).toBe('failed');
  });

  const codes: readonly FatalCode[] = ['DATABASE_REFUSED', 'STORED_OFFSET_MISSING', 'RECORD_ALREADY_WRITTEN'];
  test.each(codes)('with %s, which is not of one topic', async (code) => {
    const sink = refusingSink();
    const { deliver, fatal } = await setUpAssigned(sink);
    sink.refusal = new FatalError(code, 'not of one topic');
    await deliver();
    expect(fatal).toMatchObject([{ code }]);
  });

  test('with rows that a trigger dropped from a transaction of several topics', async () => {
    const sink = refusingSink();
    const { deliver, fatal } = await setUpAssigned(sink);
    sink.refusal = new FatalError('ROWS_DROPPED', 'committed', { topic: null });
    await deliver();
    expect(fatal).toMatchObject([{ code: 'ROWS_DROPPED' }]);
  });
});

test('of topics that are opened together, those that were created again wait alone', async () => {
  const sink = new SimulatedSink([PARTITION, WAITING, OTHER]);
  const { source, pipeline, deliver, fatal, lookAgain } = setUpWaiting(sink);
  const ids = new Map([[WAITING.topic, 'another']]);
  source.topicIds = async () => ids;
  const positions = sink.positions.bind(sink);
  sink.positions = async (topics) => (await positions(topics)).map((each) => ({ ...each, topicId: 'stored' }));
  assignAnew(pipeline, [PARTITION, WAITING, OTHER]);
  await settle();
  expect(pipeline.report()).toMatchObject({ state: 'running', waiting: [{ code: 'TOPIC_RECREATED' }] });
  expect([await deliver(PARTITION), await deliver()]).toEqual([true, false]);
  pipeline.onAssigned({ owned: [PARTITION, WAITING, OTHER], added: [] });
  await settle();
  ids.clear();
  await lookAgain();
  expect([await deliver(), fatal]).toEqual([true, []]);
});

test('a topic that Kafka forbids and that nobody owns is reported, whatever the group assigns, until it is allowed', async () => {
  const { pipeline, deliver, goesOn } = setUpWaiting(new SimulatedSink([PARTITION, WAITING, OTHER]));
  assignAnew(pipeline, [PARTITION]);
  await settle();
  const forbidden = new FatalError('TOPIC_FORBIDDEN', 'Kafka forbids shop.c', { topic: 'shop.c' });
  pipeline.onUnlisted(new Map([['shop.c', forbidden]]), new Set());
  const waiting = [{ topic: 'shop.c', code: 'TOPIC_FORBIDDEN', message: 'Kafka forbids shop.c', isIgnored: false }];
  expect(pipeline.report().waiting).toMatchObject(waiting);
  assignAnew(pipeline, [PARTITION, OTHER]);
  await settle();
  expect(pipeline.report().waiting).toMatchObject(waiting);
  expect(await deliver(PARTITION)).toBe(true);
  pipeline.onUnlisted(new Map(), new Set());
  expect([pipeline.report().waiting, goesOn]).toEqual([undefined, ['shop.c after 0 s']]);
});

test('a topic that Kafka forbids, and then does not have, waits no more and does not go on', () => {
  const { pipeline, goesOn } = setUpWaiting();
  const forbidden = new FatalError('TOPIC_FORBIDDEN', 'Kafka forbids shop.c', { topic: 'shop.c' });
  pipeline.onUnlisted(new Map([['shop.c', forbidden]]), new Set());
  pipeline.onUnlisted(new Map(), new Set(['shop.c']));
  expect([pipeline.report().waiting, goesOn]).toEqual([undefined, []]);
});

test('a consumer whose topics all wait runs', async () => {
  const sink = new SimulatedSink([PARTITION, WAITING, OTHER]);
  sink.misfitting.set(WAITING.topic, MISFIT);
  const { pipeline } = setUpWaiting(sink);
  assignAnew(pipeline, [WAITING, OTHER]);
  await settle();
  expect(pipeline.report()).toMatchObject({ state: 'running', waiting: [{ topic: WAITING.topic }] });
});

test('nothing is known of the lag of a topic that waits, and no partition of it stalls', async () => {
  const sink = new SimulatedSink([PARTITION, WAITING, OTHER]);
  sink.misfitting.set(WAITING.topic, MISFIT);
  const { pipeline, clock } = await setUpAssigned(sink);
  clock.pass(120_000);
  for (const partition of [PARTITION, WAITING]) {
    pipeline.onLog({ ...partition, start: 0n, end: 6n });
  }
  const [named, waiting] = pipeline.report().partitions;
  expect(named).toMatchObject({ lag: 6n, stalledSince: expect.any(Date) });
  const topicWaitsSince = pipeline.report().waiting?.[0]?.since;
  expect(waiting).toEqual({ ...WAITING, nextOffset: null, lag: null, logEndAgeMs: 0, topicWaitsSince });
  expect(topicWaitsSince).toEqual(new Date(clock.now().getTime() - 120_000));
});

const GAP: Gap = { ...WAITING, expectedOffset: 0n, nextOffset: 2n };
const PLACE = { ...WAITING, offset: 6n, topicId: 'a', leaderEpoch: 1 };
const ADVICE = 'Disable the trigger';

test.each<[FatalCode, FatalError, string]>([
  ['LOG_TRUNCATED', logTruncated({ ...PLACE, endOffset: 3n, readTo: 6n }), 'set its next_offset in offsets to 3'],
  ['LOG_TRUNCATED', epochUnknown(PLACE), 'offsets begin-again shop.public.orders'],
  ['ROWS_DROPPED', droppedRows([GAP], { table: 't', sent: 2, stored: 1, triggers: [], isCommitted: false }), ADVICE],
  [
    'TABLE_REFUSES_ROWS',
    new FatalError('TABLE_REFUSES_ROWS', 'Drop it and start again; or raise it'),
    'Drop it; or raise',
  ],
  [
    'TABLES_DO_NOT_FIT',
    new FatalError('TABLES_DO_NOT_FIT', 'check both, and start again.\ntables[0]'),
    'check both.\n',
  ],
])(
  'what mends a topic that waits by %s is in its message, and no advice to start again',
  async (code, error, advice) => {
    const sink = refusingSink();
    const { waits, deliver } = await setUpAssigned(sink);
    expect(error.message).toMatch(/start again/);
    sink.refusal = error;
    await deliver();
    expect(waits).toMatchObject([{ code, message: expect.stringContaining(advice) }]);
    expect(waits[0]?.message).not.toMatch(/start again/);
  },
);

describe('a table that takes no rows for now', () => {
  const held = new OutageError('locked', { reason: 'database_busy', isLockWait: true, table: 'public.orders' });

  test('makes its topic wait, is tried again, and does not pause the others', async () => {
    const sink = refusingSink();
    const { deliver, pipeline, listener, clock, waits, goesOn } = await setUpAssigned(sink);
    clock.pass(20_000);
    sink.refusal = held;
    for (const _ of [1, 2]) {
      await deliver();
      clock.endWaits((ms) => ms < 5_000);
      await settle();
    }
    expect(waits).toMatchObject([{ topic: WAITING.topic, code: 'database_busy' }]);
    expect([pipeline.report().state, listener.pauses.includes(true)]).toEqual(['running', false]);
    sink.refusal = null;
    await deliver();
    await answerAll(sink);
    expect([sink.of(WAITING).rows, goesOn.length]).toEqual([[0n, 1n, 2n], 1]);
  });
});

test('a topic that is tried again after an error keeps its code, whatever comes before something is written', async () => {
  const sink = refusingSink();
  const { deliver, clock, lookAgain, waits, goesOn } = await setUpAssigned(sink);
  sink.refusal = new FatalError('TABLE_REFUSES_ROWS', 'all of them');
  await deliver();
  sink.refusal = new OutageError('locked', { reason: 'database_busy', table: 'public.orders' });
  await lookAgain();
  await deliver();
  expect(waits).toMatchObject([{ topic: WAITING.topic, code: 'TABLE_REFUSES_ROWS' }]);
  sink.refusal = null;
  clock.endWaits((ms) => ms < 5_000);
  await settle();
  await deliver();
  await answerAll(sink);
  expect([waits.length, goesOn.length]).toEqual([1, 1]);
});

describe('while a topic waits', () => {
  const setUpMisfit = async () => {
    const sink = new SimulatedSink([PARTITION, WAITING, OTHER]);
    sink.misfitting.set(WAITING.topic, MISFIT);
    return setUpAssigned(sink);
  };

  test('a consumer that ends writes nothing of it, and waits for nothing', async () => {
    const { pipeline, sink, fatal } = await setUpMisfit();
    await pipeline.drain();
    await pipeline.close();
    expect([pipeline.report().state, sink.requests, fatal]).toEqual(['stopped', [], []]);
  });

  test('it may be revoked, and is no topic of the process then', async () => {
    const { pipeline, lookAgain, sink } = await setUpMisfit();
    await pipeline.onRevoked([WAITING, OTHER]);
    pipeline.onAssigned({ owned: [PARTITION], added: [] });
    await settle();
    expect(pipeline.report()).not.toHaveProperty('waiting');
    const reads = sink.reads;
    await lookAgain();
    expect(sink.reads).toBe(reads);
  });

  test('a generation that keeps it leaves it waiting, and a partition that one adds waits with it', async () => {
    const { pipeline, sink, waits, lookAgain } = await setUpMisfit();
    await pipeline.onRevoked([OTHER]);
    pipeline.onAssigned({ owned: [PARTITION, WAITING], added: [] });
    await settle();
    expect(pipeline.report()).toMatchObject({ state: 'running', waiting: [{ topic: WAITING.topic }] });
    sink.misfitting.clear();
    pipeline.onAssigned({ owned: [PARTITION, WAITING, OTHER], added: [OTHER] });
    await settle();
    expect(pipeline.report()).toMatchObject({ state: 'running', waiting: [{ topic: WAITING.topic }] });
    await lookAgain();
    expect(pipeline.report()).not.toHaveProperty('waiting');
    expect(waits).toHaveLength(1);
  });

  test('a consumer runs on where nothing but the topic is assigned anew', async () => {
    const { pipeline } = await setUpMisfit();
    assignAnew(pipeline, [WAITING, OTHER]);
    await settle();
    expect(pipeline.report().state).toBe('running');
    pipeline.reopen();
    expect(pipeline.report().state).toBe('running');
  });

  test('stored offsets that went back are read anew, also of the others', async () => {
    const { pipeline, deliver, sink } = await setUpMisfit();
    pipeline.reopen();
    await settle();
    expect(pipeline.report()).toMatchObject({ state: 'running', waiting: [{ topic: WAITING.topic }] });
    await deliver(PARTITION);
    await answerAll(sink);
    expect(sink.rows).toEqual([0n, 1n, 2n]);
  });
});
