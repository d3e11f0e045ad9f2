import { expect, test } from '@jest/globals';
import { SubscribedTopics } from '../../../app/stream/subscribed-topics.ts';
import { aBatch, PARTITION } from './records.ts';
import { SimulatedSink } from './simulated-sink.ts';
import { answerAll, assignAnew, SimulatedClock, settle, setUp } from './simulation.ts';

const KNOWN: ReadonlyMap<string, number> = new Map([['orders', 6]]);

function ofTwo() {
  const clock = new SimulatedClock();
  const topics = new SubscribedTopics(() => ['orders', 'payments'], clock);
  const gone = () => topics.report().flatMap(({ topic, isGone }) => (isGone ? [topic] : []));
  return { clock, topics, gone };
}

test('before the first answer of Kafka, and a minute after its last one, nothing is told of any topic', () => {
  const { clock, topics } = ofTwo();
  expect(topics.report()).toEqual([]);
  topics.answered([], KNOWN);
  expect(topics.report()).toHaveLength(2);
  clock.pass(60_001);
  expect(topics.report()).toEqual([]);
});

test('the number of partitions is that of the last answer, and is not told where that has none', () => {
  const { clock, topics } = ofTwo();
  const counts = () => topics.report().map(({ topic, partitions }) => [topic, partitions]);
  topics.answered([], new Map([...KNOWN, ['payments', 3]]));
  expect(counts()).toEqual([
    ['orders', 6],
    ['payments', 3],
  ]);
  topics.answered(['payments'], new Map([['orders', 12]]));
  expect(counts()).toEqual([
    ['orders', 12],
    ['payments', undefined],
  ]);
  clock.pass(60_001);
  expect(counts()).toEqual([]);
});

test('partitions without a leader are counted as they were told within a minute, and not where none was asked for', () => {
  const { clock, topics } = ofTwo();
  const counts = () => topics.report().map(({ leaderless }) => leaderless);
  const now = () => clock.steady().getTime();
  const leaderless = (partition: number, askedAt = now()) =>
    topics.observeLog({ topic: 'orders', partition, isLeaderless: true }, askedAt);
  const led = (partition: number) => topics.observeLog({ topic: 'orders', partition, start: 0n, end: 7n }, now());
  topics.answered([], KNOWN);
  expect(counts()).toEqual([undefined, undefined]);
  leaderless(0);
  leaderless(1);
  led(2);
  expect(counts()).toEqual([2, undefined]);
  led(1);
  expect(counts()).toEqual([1, undefined]);
  led(0);
  expect(counts()).toEqual([0, undefined]);
  leaderless(0, now() - 1);
  expect(counts()).toEqual([0, undefined]);
  clock.pass(60_001);
  topics.answered([], KNOWN);
  expect(counts()).toEqual([undefined, undefined]);
});

test('a topic is gone once all answers of 5 s did not have it, and not by time without an answer', () => {
  const { clock, topics, gone } = ofTwo();
  topics.answered(['payments'], KNOWN);
  clock.pass(5_000);
  expect(gone()).toEqual([]);
  topics.answered(['payments'], KNOWN);
  expect(gone()).toEqual(['payments']);
  expect(topics.error()).toMatchObject({ code: 'TOPIC_GONE', message: expect.stringContaining('payments') });
});

test('an answer that has the topic again ends it, and the 5 s begin anew', () => {
  const { clock, topics, gone } = ofTwo();
  topics.answered(['payments'], KNOWN);
  clock.pass(3_000);
  topics.answered([], KNOWN);
  topics.answered(['payments'], KNOWN);
  clock.pass(3_000);
  topics.answered(['payments'], KNOWN);
  expect(gone()).toEqual([]);
  expect(topics.error()).toBeNull();
});

test('what was fetched of a deleted topic is written when its partition is taken away', async () => {
  const { sink, pipeline } = setUp(12n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  pipeline.onFetched(aBatch(0n, 12n));
  pipeline.onTopics([PARTITION.topic], KNOWN);
  assignAnew(pipeline, []);
  await answerAll(sink);
  expect(sink.stored).toBe(12n);
});

test('what was fetched of any other topic is left to the new owner of its partition', async () => {
  const { sink, pipeline } = setUp(12n);
  assignAnew(pipeline, [PARTITION]);
  await settle();
  pipeline.onFetched(aBatch(0n, 12n));
  pipeline.onTopics([], KNOWN);
  assignAnew(pipeline, []);
  await answerAll(sink);
  expect(sink.stored).toBe(5n);
});

test.each([
  ['continue', 'running', []],
  ['stop', 'failed', ['TOPIC_GONE']],
] as const)('with consumer.onTopicGone: %s the consumer is %s', async (onTopicGone, state, codes) => {
  const { pipeline, clock, fatal } = setUp(12n, new SimulatedSink(), 'fail', { onTopicGone });
  assignAnew(pipeline, [PARTITION]);
  await settle();
  pipeline.onTopics([PARTITION.topic], KNOWN);
  clock.pass(5_000);
  pipeline.onTopics([PARTITION.topic], KNOWN);
  expect(pipeline.report()).toMatchObject({ state, topics: [{ topic: PARTITION.topic, isGone: true }] });
  expect(fatal.map(({ code }) => code)).toEqual(codes);
});

test('with consumer.onTopicGone: stop a topic that a template alone takes is none that is gone', async () => {
  const options = { onTopicGone: 'stop', isTemplated: () => true } as const;
  const { pipeline, clock, fatal } = setUp(12n, new SimulatedSink(), 'fail', options);
  pipeline.onTopics([PARTITION.topic], KNOWN);
  clock.pass(5_000);
  pipeline.onTopics([PARTITION.topic], KNOWN);
  expect(pipeline.report().topics).toMatchObject([{ topic: PARTITION.topic, isGone: false }]);
  expect(fatal).toEqual([]);
});

test('a topic that goes away while the consumer ends does not change how it ends', async () => {
  const { pipeline, clock, fatal } = setUp(12n, new SimulatedSink(), 'fail', { onTopicGone: 'stop' });
  await pipeline.drain();
  pipeline.onTopics([PARTITION.topic], KNOWN);
  clock.pass(5_000);
  pipeline.onTopics([PARTITION.topic], KNOWN);
  expect(fatal).toEqual([]);
});
