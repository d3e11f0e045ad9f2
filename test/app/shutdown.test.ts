import { expect, test } from '@jest/globals';
import { shutDown } from '../../app/shutdown.ts';
import type { Position } from '../../app/stream/ports/record-source.ts';
import { EXIT_CODE } from '../../contract/exit-code.ts';

const DRAIN_MS = 27_000;

/** Position of the one partition: it moves while the transaction under way ends. */
const at = (offset: bigint): Position => ({ topic: 'orders', partition: 0, offset });

interface Given {
  readonly handOver: (timeoutMs: number) => Promise<boolean>;
  readonly timeoutMs?: number;
  readonly exitCode?: number;
  readonly isIdle?: boolean;
}

/** What a shutdown does, in order. The hand over gives the partition to another member where it resolves with true. */
async function done({
  handOver,
  timeoutMs = DRAIN_MS + 3_000,
  exitCode = EXIT_CODE.ok,
  isIdle = false,
}: Given): Promise<string[]> {
  const told: string[] = [];
  const nothing = () => undefined;
  const log = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, fatal: nothing };
  const ending = new AbortController();
  ending.signal.addEventListener('abort', () => told.push('background ends'));
  const closing = new AbortController();
  closing.signal.addEventListener('abort', () => told.push('outages end'));
  let owned = isIdle ? [] : [at(5n)];
  let last = owned;
  const pipeline = {
    positions: () => owned,
    followPositions: () => () => last,
    drain: async () => {
      told.push(`drains ${owned.length}`);
      last = isIdle ? [] : [at(9n)];
      owned = owned.length === 0 ? owned : last;
    },
    close: async () => void told.push('pipeline closed'),
  };
  const source = {
    handOver: async (ms: number) => {
      told.push(`hands over in ${ms} ms`);
      const isDone = await handOver(ms);
      owned = isDone ? [] : owned;
      return isDone;
    },
    commitHint: async (positions: readonly Position[]) =>
      void told.push(`commits ${positions.map(({ offset }) => offset)}`),
    stop: async () => void told.push('leaves'),
  };
  await shutDown(
    {
      logger: log,
      management: {
        draining: () => told.push('not ready'),
        stop: async () => void told.push('HTTP closed'),
      },
      ...{ pipeline, source, ending, closing },
      closedLast: [{ close: async () => void told.push('pool closed') }],
      background: [],
    },
    { reason: 'SIGTERM', timeoutMs, exitCode: () => exitCode },
  );
  return told;
}

const CLOSED = ['outages end', 'leaves', 'pipeline closed', 'pool closed', 'HTTP closed'];

test('what was handed over is left in peace, and its last positions are committed before the group is left', async () => {
  expect(await done({ handOver: async () => true })).toEqual([
    ...['not ready', 'hands over in 3000 ms', 'background ends', 'drains 0', 'commits 9'],
    ...CLOSED,
  ]);
});

test('where there are no positions, none are committed', async () => {
  expect(await done({ handOver: async () => false, isIdle: true })).toEqual([
    ...['not ready', 'hands over in 3000 ms', 'background ends', 'drains 0'],
    ...CLOSED,
  ]);
});

test.each([
  ['cannot be handed over', async () => false],
  ['is refused by an error', () => Promise.reject(new Error('the coordinator is gone'))],
])('what %s is drained before the group is left', async (_, handOver) => {
  expect(await done({ handOver })).toEqual([
    ...['not ready', 'hands over in 3000 ms', 'background ends', 'drains 1', 'commits 9'],
    ...CLOSED,
  ]);
});

test('a try to hand over that does not end is given up, and leaves half of the time for draining to that', async () => {
  expect(await done({ handOver: () => new Promise(() => undefined), timeoutMs: 80 })).toEqual([
    ...['not ready', 'hands over in 20 ms', 'background ends', 'drains 1', 'commits 9'],
    ...CLOSED,
  ]);
});

test('a process that failed hands nothing over', async () => {
  expect(await done({ handOver: async () => true, exitCode: EXIT_CODE.failed })).toEqual([
    ...['not ready', 'background ends', 'drains 1', 'commits 9'],
    ...CLOSED,
  ]);
});
