import { expect, test } from '@jest/globals';
import { MemoryBudget } from '../../../app/memory/memory-budget.ts';
import { Records } from '../../../app/records/records.ts';
import { OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { isGivenBack, recordBatch, recordsIn } from '../kafka/fetch/record-sets.ts';
import { aBatch, PARTITION } from './records.ts';
import { SimulatedSink } from './simulated-sink.ts';
import { AFTER_HANDOVER_MS, answerAll, assignAnew, settle, setUp, setUpOpened } from './simulation.ts';

test('records are written in order, in transactions of at most maxBatchRecords', async () => {
  const { source, sink, pipeline, listener } = setUp(12n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  pipeline.onFetched(source.fetch(12) ?? aBatch(0n, 0n));
  await answerAll(sink);
  expect(sink.rows).toEqual([...Array(12).keys()].map(BigInt));
  expect(listener.committed).toBe(12);
});

test('nothing is taken in before the position was read', async () => {
  const { sink, pipeline } = setUp(12n);
  assignAnew(pipeline, [PARTITION]);
  pipeline.onFetched(aBatch(0n, 3n));
  await answerAll(sink);
  expect(sink.rows).toEqual([]);
});

test('a batch that starts below the position is cropped, one that starts above it is sought back', async () => {
  const { source, sink, pipeline } = setUp(12n);
  sink.stored = 4n;
  assignAnew(pipeline, [PARTITION]);
  await settle();
  pipeline.onFetched(aBatch(2n, 6n));
  pipeline.onFetched(aBatch(8n, 10n));
  expect(source.fetchFrom).toBe(6n);
  await answerAll(sink);
  expect(sink.rows).toEqual([4n, 5n]);
});

test('a range without records moves the stored offset on', async () => {
  const { sink, pipeline } = setUp(12n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  pipeline.onFetched({ ...PARTITION, records: Records.NONE, fetchedOffset: 0n, nextOffset: 9n });
  await answerAll(sink);
  expect(sink.stored).toBe(9n);
});

test('a full queue pauses the partition, and room resumes it', async () => {
  const { source, sink, pipeline } = setUp(100n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  pipeline.onFetched(source.fetch(50) ?? aBatch(0n, 0n));
  expect(source.isPaused).toBe(true);
  await answerAll(sink);
  expect(source.isPaused).toBe(false);
});

test('a partition queues no more than its share of the memory, whatever the setting allows', async () => {
  const memory = new MemoryBudget(5_000);
  const { source, sink, pipeline } = setUp(100n, new SimulatedSink(), 'fail', { memory });
  assignAnew(pipeline, [PARTITION]);
  await settle();
  pipeline.onFetched(source.fetch(3) ?? aBatch(0n, 0n));
  await settle();
  // One transaction takes what came at once, though it is more than the share.
  expect([source.isPaused, sink.pending.map(({ request }) => request.records.length)]).toEqual([true, [3]]);
  await answerAll(sink);
  expect(sink.stored).toBe(3n);
  expect([source.isPaused, memory.held]).toEqual([false, 0]);
});

test('the memory of records that are committed is used again, and that of records whose write failed is not', async () => {
  const { sink, pipeline, listener, memory } = setUp(12n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  const given: boolean[] = [];
  for (const ending of ['cut after', 'answered'] as const) {
    const from = sink.stored;
    const records = await recordsIn(memory, recordBatch(Number(from), 1, [Buffer.alloc(9_000, 'x')]));
    pipeline.onFetched({ ...PARTITION, records, fetchedOffset: from, nextOffset: from + 1n });
    await answerAll(sink, ending);
    given.push(isGivenBack(memory, records));
  }
  expect(listener.failed).toHaveLength(1);
  expect([sink.stored, given]).toEqual([2n, [false, true]]);
});

test('a fenced writer writes nothing, reads the position again and goes on from there', async () => {
  const { source, sink, pipeline, listener, clock } = setUp(12n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  clock.pass(AFTER_HANDOVER_MS);
  pipeline.onFetched(source.fetch(3) ?? aBatch(0n, 0n));
  await settle();
  sink.stored = 7n;
  await answerAll(sink);
  expect(listener.fenced).toEqual([PARTITION]);
  expect(sink.rows).toEqual([]);
  expect(source.fetchFrom).toBe(7n);
});

test('a commit whose answer was lost is found by reading the position, never written twice', async () => {
  const { source, sink, pipeline, listener } = setUp(3n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  pipeline.onFetched(source.fetch(3) ?? aBatch(0n, 0n));
  await answerAll(sink, 'cut after');
  expect(listener.failed).toHaveLength(1);
  expect(sink.rows).toEqual([0n, 1n, 2n]);
  expect(source.fetchFrom).toBe(3n);
  expect(pipeline.report()).toMatchObject({ state: 'running', lastError: 'the connection was cut' });
});

test('a position that vanished from PostgreSQL ends the consumer and names the last value seen', async () => {
  const { source, sink, pipeline, fatal } = setUp(12n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  pipeline.onFetched(source.fetch(3) ?? aBatch(0n, 0n));
  sink.positions = async () => [];
  await answerAll(sink, 'cut before');
  const message = expect.stringMatching(/startFrom: earliest.*next_offset 0/);
  expect(fatal).toMatchObject([{ code: 'STORED_OFFSET_MISSING', message }]);
  expect(pipeline.report().state).toBe('failed');
});

test('a gap that may be skipped is recorded and moved over after what is queued was written', async () => {
  const { source, sink, pipeline, listener } = setUp(12n, new SimulatedSink(), 'skip');
  assignAnew(pipeline, [PARTITION]);
  await settle();
  pipeline.onFetched(aBatch(0n, 3n));
  source.logStart = 8n;
  pipeline.onOutOfRange(PARTITION);
  await answerAll(sink);
  const gap = { ...PARTITION, topicId: null, expectedOffset: 3n, nextOffset: 8n, broken: null };
  expect(sink.gaps).toEqual([gap]);
  expect(listener.skipped).toEqual([gap]);
  expect([sink.stored, source.fetchFrom, source.isPaused]).toEqual([8n, 8n, false]);
});

test('a gap that may not be skipped ends the consumer', async () => {
  const { source, sink, pipeline, fatal } = setUp(12n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  source.logStart = 8n;
  pipeline.onOutOfRange(PARTITION);
  await answerAll(sink);
  expect(fatal).toMatchObject([{ code: 'OFFSETS_GONE' }]);
  expect(sink.stored).toBe(0n);
});

test('an error that nobody knows is tried again a few times, then the consumer stops', async () => {
  const { source, sink, pipeline, fatal } = setUp(12n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  let writes = 0;
  sink.write = async () => {
    writes += 1;
    throw new OutageError('what is this', { attempts: 3 });
  };
  for (let round = 0; round < 5; round += 1) {
    const batch = source.fetch(3);
    if (batch) pipeline.onFetched(batch);
    await settle();
  }
  expect(writes).toBe(3);
  expect(fatal).toMatchObject([{ code: 'DATABASE_REFUSED', message: expect.stringContaining('3 times in a row') }]);
});

test('draining writes what is queued and takes nothing in any more', async () => {
  const { source, sink, pipeline } = setUp(12n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  pipeline.onFetched(source.fetch(7) ?? aBatch(0n, 0n));
  const drained = pipeline.drain();
  pipeline.onFetched(aBatch(7n, 9n));
  await answerAll(sink);
  await drained;
  await pipeline.close();
  expect(sink.stored).toBe(7n);
  expect(pipeline.report().state).toBe('stopped');
});

test('closing waits for the transaction of an assignment that is over', async () => {
  const { source, sink, pipeline } = setUp(12n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  const batch = source.fetch(3);
  if (batch) pipeline.onFetched(batch);
  await settle();
  assignAnew(pipeline, []);
  await settle();
  let isClosed = false;
  const closing = pipeline.close().then(() => {
    isClosed = true;
  });
  await settle();
  expect(isClosed).toBe(false);
  await answerAll(sink);
  await closing;
  expect(sink.stored).toBe(3n);
});

test('draining in an outage ends at once and leaves the rest ahead of the stored offset', async () => {
  const { source, sink, pipeline } = setUp(12n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  pipeline.onFetched(source.fetch(12) ?? aBatch(0n, 0n));
  const drained = pipeline.drain();
  await answerAll(sink, 'cut before');
  await drained;
  expect(sink.stored).toBe(0n);
});

test('a write that fails again and again takes fewer records each time, down to one', async () => {
  const { source, sink, pipeline } = setUp(100n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  const sizes: number[] = [];
  sink.write = async ({ records }) => {
    sizes.push(records.length);
    throw new OutageError('it never fits');
  };
  for (let round = 0; round < 4; round += 1) {
    const batch = source.fetch(20);
    if (batch) pipeline.onFetched(batch);
    await settle();
  }
  expect(sizes).toEqual([5, 2, 1, 1]);
});

test('what concerns a partition that is not assigned is ignored', async () => {
  const { sink, source, pipeline, fatal } = setUp(12n);
  const elsewhere = { ...PARTITION, partition: 7 };
  assignAnew(pipeline, [PARTITION]);
  await settle();
  source.told.length = 0;
  pipeline.onFetched({ ...aBatch(0n, 3n), ...elsewhere });
  pipeline.onOutOfRange(elsewhere);
  pipeline.onLog({ ...elsewhere, start: 0n, end: 12n });
  await answerAll(sink);
  expect({ told: source.told, requests: sink.requests, fatal }).toEqual({ told: [], requests: [], fatal: [] });
});

test('why the group cannot be joined is reported', () => {
  const { pipeline } = setUp(12n);
  expect(pipeline.report()).not.toHaveProperty('lastErrorAt');
  pipeline.onWaiting('the group is full');
  const lastErrorAt = expect.any(Date);
  expect(pipeline.report()).toMatchObject({ state: 'starting', lastError: 'the group is full', lastErrorAt });
});

test('of several fatal errors the first one counts, and draining after it is in order', async () => {
  const { pipeline, fatal } = await setUpOpened(12n);
  pipeline.onFatal(new Error('the first'));
  pipeline.onFatal(new Error('the second'));
  await pipeline.drain();
  await pipeline.close();
  expect(fatal).toMatchObject([{ message: 'Error: the first' }]);
  expect(pipeline.report()).toMatchObject({ state: 'failed', lastError: 'the first', lastErrorAt: expect.any(Date) });
});

test('what fails after the end is no failure any more, and no assignment begins', async () => {
  const { source, pipeline, fatal } = await setUpOpened(12n);
  await pipeline.drain();
  await pipeline.close();
  source.told.length = 0;
  pipeline.onFatal(new Error('too late'));
  assignAnew(pipeline, [PARTITION]);
  await settle();
  expect(fatal).toEqual([]);
  expect(source.told).toEqual([]);
  expect(pipeline.report().state).toBe('stopped');
});

test('closing gives up what is queued', async () => {
  const { sink, pipeline } = await setUpOpened(12n);
  pipeline.onFetched(aBatch(0n, 12n));
  await settle();
  const closed = pipeline.close();
  await answerAll(sink);
  await closed;
  expect(sink.stored).toBe(5n);
});

test('the report has since when the state lasts, by the time of day, whatever sets that', () => {
  const { pipeline, clock } = setUp(12n);
  clock.pass(7_000);
  assignAnew(pipeline, [PARTITION]);
  clock.pass(3_000);
  expect(pipeline.report()).toMatchObject({ state: 'assigning', stateSince: new Date(7_000) });
  clock.set(60_000);
  expect(pipeline.report().stateSince).toEqual(new Date(67_000));
});
