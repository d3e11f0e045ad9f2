import { describe, expect, test } from '@jest/globals';
import { MemoryBudget } from '../../../app/memory/memory-budget.ts';
import { FatalError, OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { ALL, aMember, KEPT, OTHER, THIRD } from './owning-member.ts';
import { aBatch } from './records.ts';
import { SimulatedSink } from './simulated-sink.ts';
import { answerAll, settle, setUp } from './simulation.ts';

/** Withholds the stored offsets of a topic. */
function withholding(sink: SimulatedSink, topic: string) {
  const positions = sink.positions.bind(sink);
  const answers: (() => void)[] = [];
  sink.positions = async (topics) => {
    if (topics.includes(topic)) await new Promise<void>((answer) => answers.push(answer));
    return positions(topics);
  };
  return () => answers.shift()?.();
}

describe('a partition that is kept', () => {
  test('goes on with its queue and its transaction while another one is added, and the state stays running', async () => {
    const { sink, source, pipeline } = await aMember();
    const answer = withholding(sink, OTHER.topic);
    pipeline.onFetched(aBatch(0n, 10n));
    await settle();
    pipeline.onAssigned({ added: [OTHER], owned: [KEPT, OTHER] });
    await settle();
    expect(pipeline.report()).toMatchObject({ state: 'running', partitions: [{}, { awaits: 'stored offset' }] });
    expect(sink.pending).toHaveLength(1);
    await answerAll(sink);
    expect(sink.stored).toBe(10n);
    expect(source.told).toEqual([]);
    answer();
    await settle();
    expect(source.of(OTHER).told).toEqual(['seek 0', 'resume']);
    expect(pipeline.report()).toMatchObject({
      state: 'running',
      partitions: [{ nextOffset: 10n }, { nextOffset: 0n }],
    });
  });

  test('goes on while the transaction of a revoked one does not end', async () => {
    const { sink, source, pipeline } = await aMember([KEPT, OTHER]);
    pipeline.onFetched({ ...aBatch(0n, 10n), ...OTHER });
    await settle();
    let isRevoked = false;
    const revoked = pipeline.onRevoked([OTHER]).then(() => {
      isRevoked = true;
    });
    pipeline.onAssigned({ added: [], owned: [KEPT] });
    pipeline.onFetched(aBatch(0n, 5n));
    await settle();
    sink.pending.find(({ request }) => request.topic === KEPT.topic)?.('answered');
    await settle();
    expect([sink.stored, isRevoked]).toEqual([5n, false]);
    expect(source.told).toEqual([]);
    await answerAll(sink);
    await revoked;
    expect(sink.of(OTHER).rows).toEqual([0n, 1n, 2n, 3n, 4n]);
    expect(pipeline.positions()).toEqual([{ ...KEPT, offset: 5n }]);
  });

  test('is paused when its share of the memory is less than it has queued, and resumed when that is more again', async () => {
    // 750 bytes for one partition, 250 for each of three; a record has 84.
    const memory = new MemoryBudget(16_000);
    const { sink, source, pipeline } = await aMember([KEPT], { memory });
    pipeline.onFetched(aBatch(0n, 8n));
    await settle();
    expect(source.told).toEqual([]);
    pipeline.onAssigned({ added: [OTHER, THIRD], owned: ALL });
    expect(source.told).toEqual(['pause']);
    await settle();
    void pipeline.onRevoked([OTHER, THIRD]);
    pipeline.onAssigned({ added: [], owned: [KEPT] });
    expect(source.told).toEqual(['pause', 'resume']);
    await answerAll(sink);
    expect(sink.stored).toBe(8n);
  });

  test('has the id of its topic compared after each generation', async () => {
    const { sink, source, pipeline, fatal } = await aMember();
    sink.positions = async () => [{ ...KEPT, offset: 0n, topicId: 'the old one' }];
    source.topicIds = async () => new Map([[KEPT.topic, 'a new one']]);
    pipeline.onAssigned({ added: [], owned: [KEPT] });
    await settle();
    expect(fatal).toMatchObject([{ code: 'TOPIC_RECREATED' }]);
  });

  test('is one of a group that is claimed in each generation, by who gets nothing, too', async () => {
    const { source, pipeline, fatal } = await aMember();
    source.claim = async () => {
      throw new FatalError('GROUP_WRITES_ELSEWHERE', 'elsewhere');
    };
    pipeline.onAssigned({ added: [], owned: [KEPT] });
    await settle();
    expect(fatal).toMatchObject([{ code: 'GROUP_WRITES_ELSEWHERE' }]);
  });
});

describe('a partition that is added', () => {
  test('is opened while those that were added before it cannot be', async () => {
    const { sink, source, pipeline } = await aMember();
    withholding(sink, OTHER.topic);
    pipeline.onAssigned({ added: [OTHER], owned: [KEPT, OTHER] });
    await settle();
    pipeline.onAssigned({ added: [THIRD], owned: ALL });
    await settle();
    expect([source.of(OTHER).told, source.of(THIRD).told]).toEqual([[], ['seek 0', 'resume']]);
  });

  test('goes on being opened when a generation keeps it', async () => {
    const { sink, source, pipeline } = setUp(12n, new SimulatedSink(ALL));
    const answer = withholding(sink, OTHER.topic);
    pipeline.onAssigned({ added: [OTHER], owned: [OTHER] });
    await settle();
    pipeline.onAssigned({ added: [], owned: [OTHER] });
    await settle();
    expect(pipeline.report().state).toBe('assigning');
    answer();
    await settle();
    expect(source.of(OTHER).told).toEqual(['seek 0', 'resume']);
    expect(pipeline.report().state).toBe('running');
  });

  test('and revoked before its position was read holds up none that was added with it', async () => {
    const { source, sink, pipeline } = setUp(12n, new SimulatedSink([KEPT, OTHER]));
    let isKnown = false;
    const positions = sink.positions.bind(sink);
    sink.positions = async (topics) => {
      if (topics.includes(THIRD.topic) && !isKnown) {
        isKnown = true;
        void pipeline.onRevoked([THIRD]);
        throw new OutageError('PostgreSQL is away');
      }
      return positions(topics);
    };
    pipeline.onAssigned({ added: [OTHER, THIRD], owned: [OTHER, THIRD] });
    await settle();
    expect(source.of(OTHER).told).toEqual(['seek 0', 'resume']);
    expect(source.of(THIRD).told).toEqual([]);
    expect(pipeline.report()).toMatchObject({ state: 'running', partitions: [OTHER] });
  });

  test('again waits until its former transaction has ended, and the others do not', async () => {
    const { sink, source, pipeline, clock } = await aMember([KEPT, OTHER]);
    clock.holdWaits();
    pipeline.onFetched(aBatch(0n, 3n));
    await settle();
    source.of(OTHER).told.length = 0;
    void pipeline.onRevoked([KEPT, OTHER]);
    await settle();
    pipeline.onAssigned({ added: [KEPT, OTHER], owned: [KEPT, OTHER] });
    await settle();
    const opened = ['seek 0', 'resume'];
    expect([source.told, source.of(OTHER).told]).toEqual([[], opened]);
    await answerAll(sink);
    expect(source.told).toEqual(['seek 3', 'resume']);
  });

  test('is claimed anew when another generation begins meanwhile', async () => {
    const { source, pipeline } = setUp(12n, new SimulatedSink(ALL));
    let claim: () => void = () => undefined;
    const claimed = new Promise<void>((resolve) => {
      claim = resolve;
    });
    source.claim = (signal) =>
      Promise.race([claimed, new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))]);
    pipeline.onAssigned({ added: [OTHER], owned: [OTHER] });
    await settle();
    pipeline.onAssigned({ added: [], owned: [OTHER] });
    await settle();
    expect(source.of(OTHER).told).toEqual([]);
    claim();
    await settle();
    expect(source.of(OTHER).told).toEqual(['seek 0', 'resume']);
  });

  test('is not read, and no first offset of it stored, when its claim was given up', async () => {
    const { source, sink, pipeline } = setUp(12n, new SimulatedSink(ALL));
    source.claim = (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    pipeline.onAssigned({ added: [OTHER], owned: [OTHER] });
    await settle();
    await pipeline.drain();
    await pipeline.close();
    expect(sink.reads).toBe(0);
  });
});

test('a partition that a generation does not name, and one that it names for the first time, are taken as it says', async () => {
  const { pipeline, source } = await aMember([KEPT, OTHER]);
  pipeline.onAssigned({ added: [], owned: [KEPT, THIRD] });
  await settle();
  expect(pipeline.report().partitions).toMatchObject([KEPT, THIRD]);
  expect(source.of(THIRD).told).toEqual(['seek 0', 'resume']);
});

test('all partitions begin again where a stored offset went back, and generations that begin meanwhile change nothing', async () => {
  const { pipeline, source, sink } = await aMember([KEPT, OTHER]);
  pipeline.onFetched(aBatch(0n, 3n));
  await answerAll(sink);
  sink.stored = 1n;
  pipeline.reopen();
  pipeline.onAssigned({ added: [], owned: [KEPT, OTHER] });
  await settle();
  expect(source.told.slice(-2)).toEqual(['seek 1', 'resume']);
  expect(pipeline.report().state).toBe('running');
});

test('what was added and cannot be opened counts as paused until it can, and the kept ones go on', async () => {
  const { pipeline, sink, clock, listener } = await aMember();
  const positions = sink.positions.bind(sink);
  let isAway = true;
  sink.positions = (topics) =>
    isAway && topics.includes(OTHER.topic) ? Promise.reject(new OutageError('away')) : positions(topics);
  clock.holdWaits();
  pipeline.onAssigned({ added: [OTHER], owned: [KEPT, OTHER] });
  await settle();
  clock.endWaits();
  await settle();
  expect(listener.pauses).toEqual([true]);
  expect(pipeline.report().state).toBe('paused');
  pipeline.onFetched(aBatch(0n, 3n));
  await answerAll(sink);
  expect(sink.stored).toBe(3n);
  isAway = false;
  clock.endWaits();
  await settle();
  expect(listener.pauses).toEqual([true, false]);
  expect(pipeline.report().state).toBe('running');
});
