import { expect, test } from '@jest/globals';
import type { Position } from '../../../app/stream/ports/record-source.ts';
import { OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { watchStoredPositions } from '../../../app/stream/stored-positions.ts';

const at = (partition: number, offset: bigint, topic = 'orders'): Position => ({ topic, partition, offset });

/** Looks once at stored positions, then ends; what comes of it is noted. @param endsAt during which step it ends */
async function look(
  known: readonly Position[],
  stored: readonly Position[] | Error,
  endsAt: 'pause' | 'read' | 'after' = 'after',
): Promise<{ noted: readonly string[]; pauses: readonly number[] }> {
  const noted: string[] = [];
  const pauses: number[] = [];
  const ending = new AbortController();
  const wait = async (ms: number): Promise<void> => {
    pauses.push(ms);
    if (endsAt === 'pause' || pauses.length > 1) ending.abort();
  };
  const pipeline = {
    positions: () => [...known],
    reopen: () => void noted.push('reopened'),
    onFatal: (error: Error) => void noted.push(`fatal: ${'code' in error ? error.code : error}`),
  };
  const positions = async (topics: readonly string[]): Promise<Position[]> => {
    noted.push(`asked for ${topics}`);
    if (endsAt === 'read') ending.abort();
    if (stored instanceof Error) throw stored;
    return [...stored];
  };
  await watchStoredPositions(
    pipeline,
    { positions },
    {
      clock: { now: () => new Date(0), steady: () => new Date(0), wait },
      signal: ending.signal,
      onBehind: ({ topic, partition, offset }, was) =>
        void noted.push(`${topic}/${partition} from ${was} to ${offset}`),
    },
  );
  return { noted, pauses };
}

test('a stored offset that went back is reported, and all positions are read again, once', async () => {
  const known = [at(0, 9n), at(1, 9n), at(0, 5n, 'payments')];
  const { noted, pauses } = await look(known, [at(0, 7n), at(1, 9n), at(0, 4n, 'payments')]);
  expect(noted).toEqual(['asked for orders,payments', 'orders/0 from 9 to 7', 'payments/0 from 5 to 4', 'reopened']);
  expect(pauses).toEqual([30_000, 30_000]);
});

test('offsets that are stored as they are known, or are further, are left', async () => {
  expect((await look([at(0, 9n), at(1, 9n)], [at(0, 9n), at(1, 10n)])).noted).toEqual(['asked for orders']);
});

test('a stored offset of a partition that is not owned here says nothing', async () => {
  expect((await look([at(0, 9n)], [at(0, 9n), at(7, 0n)])).noted).toEqual(['asked for orders']);
});

test('a row that is gone ends the consumer, whatever else is stored', async () => {
  const { noted } = await look([at(0, 9n), at(1, 9n)], [at(0, 3n)]);
  expect(noted).toEqual(['asked for orders', 'fatal: STORED_OFFSET_MISSING']);
});

test('while PostgreSQL is away nothing is known, and any other error ends the consumer', async () => {
  const { noted, pauses } = await look([at(0, 9n)], new OutageError('away'));
  expect([noted, pauses.length]).toEqual([['asked for orders'], 2]);
  const wrong = await look([at(0, 9n)], new TypeError('wrong'));
  expect(wrong.noted).toEqual(['asked for orders', 'fatal: UNEXPECTED']);
});

test('without positions, and at the end, PostgreSQL is not asked', async () => {
  expect((await look([], [])).noted).toEqual([]);
  expect((await look([at(0, 9n)], [at(0, 7n)], 'pause')).noted).toEqual([]);
});

test('what is answered after the end changes nothing', async () => {
  expect((await look([at(0, 9n)], [at(0, 7n)], 'read')).noted).toEqual(['asked for orders']);
});
