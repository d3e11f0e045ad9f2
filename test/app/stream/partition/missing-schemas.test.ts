import { expect, test } from '@jest/globals';
import { OutageError } from '../../../../app/stream/ports/stream-errors.ts';
import { aBatch, PARTITION } from '../records.ts';
import { SimulatedSink } from '../simulated-sink.ts';
import { answerAll, assignAnew, settle, setUp, setUpOpened } from '../simulation.ts';

/** Fetches that end when the test says so. */
function fetches() {
  const ends: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  const signals: AbortSignal[] = [];
  const prepare = (_: unknown, signal: AbortSignal): Promise<void> => {
    signals.push(signal);
    return new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
  };
  return { ends, signals, prepare };
}

const away = () => new OutageError('the registry is away', { reason: 'registry_away' });

test('no transaction begins while what its records need is fetched', async () => {
  const { ends, prepare } = fetches();
  const { sink, pipeline } = await setUpOpened(12n, new SimulatedSink(), 'fail', { prepare });
  pipeline.onFetched(aBatch(0n, 3n));
  await settle();
  expect([ends.length, sink.requests.length]).toEqual([1, 0]);
  ends[0]?.resolve();
  await answerAll(sink);
  expect(sink.rows).toEqual([0n, 1n, 2n]);
});

test('other partitions are written meanwhile', async () => {
  const { ends, prepare: fetch } = fetches();
  const prepare = (request: { readonly topic: string }, signal: AbortSignal) =>
    request.topic === PARTITION.topic ? fetch(request, signal) : undefined;
  const other = { topic: 'refunds', partition: 0 };
  const sink = new SimulatedSink([PARTITION, other]);
  const { pipeline } = setUp(12n, sink, 'fail', { prepare, topics: () => [PARTITION.topic, other.topic] });
  assignAnew(pipeline, [PARTITION, other]);
  await settle();
  pipeline.onFetched(aBatch(0n, 3n));
  pipeline.onFetched({ ...aBatch(0n, 2n), ...other });
  await answerAll(sink);
  expect(sink.of(other).rows).toEqual([0n, 1n]);
  expect(sink.rows).toEqual([]);
  ends[0]?.resolve();
  await answerAll(sink);
  expect(sink.rows).toEqual([0n, 1n, 2n]);
});

test('a fetch that fails is tried again: nothing is written or lost, and the sink is no outage', async () => {
  const { ends, prepare } = fetches();
  const parts = await setUpOpened(12n, new SimulatedSink(), 'fail', { prepare });
  const { sink, pipeline, source, listener, fatal } = parts;
  pipeline.onFetched(aBatch(0n, 3n));
  for (let attempt = 0; attempt < 20; attempt += 1) {
    await settle();
    ends.at(-1)?.reject(away());
    await settle();
    await settle();
    const batch = source.fetch(3);
    if (batch !== null) {
      pipeline.onFetched(batch);
    }
  }
  expect([sink.requests, fatal, new Set(listener.failed), listener.pauses]).toEqual([
    [],
    [],
    new Set([away().message]),
    [],
  ]);
  await settle();
  ends.at(-1)?.resolve();
  await answerAll(sink);
  expect(sink.rows.slice(0, 3)).toEqual([0n, 1n, 2n]);
});

test('a partition waits for no schema any more that another one has fetched meanwhile', async () => {
  const { ends, prepare: fetch } = fetches();
  let isKnown = false;
  const prepare = (request: unknown, signal: AbortSignal) => (isKnown ? undefined : fetch(request, signal));
  const { sink, pipeline, source } = await setUpOpened(12n, new SimulatedSink(), 'fail', { prepare });
  pipeline.onFetched(aBatch(0n, 3n));
  await settle();
  ends[0]?.reject(away());
  await settle();
  await settle();
  const waits = () => pipeline.report().partitions.map(({ schemasAwaited }) => schemasAwaited?.reason);
  expect(waits()).toEqual([away().message]);
  isKnown = true;
  const batch = source.fetch(3);
  if (batch === null) throw new Error('nothing is fetched again');
  pipeline.onFetched(batch);
  await answerAll(sink);
  expect([sink.rows, waits()]).toEqual([[0n, 1n, 2n], [undefined]]);
});

test('a fetch is given up once its partition is taken away', async () => {
  const { ends, signals, prepare } = fetches();
  const { sink, pipeline } = await setUpOpened(12n, new SimulatedSink(), 'fail', { prepare });
  pipeline.onFetched(aBatch(0n, 3n));
  await settle();
  const revoked = pipeline.onRevoked([PARTITION]);
  await settle();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  ends[0]?.reject(away());
  await revoked;
  expect(sink.requests).toEqual([]);
});
