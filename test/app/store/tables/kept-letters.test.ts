import { expect, test } from '@jest/globals';
import { KeptLetters, type WaitingLetters } from '../../../../app/store/tables/kept-letters.ts';
import { OutageError } from '../../../../app/stream/ports/stream-errors.ts';
import { checkedSettings } from '../../../settings/checked-settings.ts';

const MINUTE_MS = 60_000;

/** What a question to PostgreSQL takes, and its answer: letters that are counted, topics of those that are deleted. */
interface Answer {
  readonly takesMs?: number;
  readonly letters?: readonly WaitingLetters[];
  readonly deleted?: readonly string[];
  readonly error?: Error;
}

/** Letters of a group that reads two topics, with a clock that goes on by what is asked and waited for. */
function open(answers: readonly Answer[], deadLetters: Readonly<Record<string, string>> = {}) {
  const settings = checkedSettings({
    kafka: { topics: ['items', 'orders'] },
    database: { url: 'postgresql://u:p@unused/shop' },
    deadLetters,
  });
  const [left, waits, ending] = [[...answers], [] as number[], new AbortController()];
  const logged: unknown[] = [];
  let nowMs = 0;
  const pool = {
    withClient: async () => {
      const { takesMs = 0, letters, deleted, error } = left.shift() ?? {};
      nowMs += takesMs;
      return error ? Promise.reject(error) : (deleted ?? letters ?? []);
    },
  };
  const clock = {
    now: () => new Date(nowMs),
    steady: () => new Date(nowMs),
    wait: async (ms: number) => {
      waits.push(ms);
      if (left.length === 0) {
        return ending.abort();
      }
      nowMs += ms;
    },
  };
  const note = (level: string) => (fields: object) => logged.push([level, fields]);
  const logger = { info: note('info'), warn: note('warn') };
  const letters = new KeptLetters(pool as never, settings, { clock, logger });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { letters, waits, logged, pass, watch: () => letters.watch(ending.signal) };
}

const waitingOf = (topic: string, letters: number, oldestSeconds: number) => ({ topic, letters, oldestSeconds });

test('letters are counted once a minute, and where a count takes long, for a hundredth of the time', async () => {
  const { watch, waits } = open([{ takesMs: 10 }, { takesMs: 600 }, { takesMs: 601 }, { takesMs: 5_000 }]);
  await watch();
  expect(waits).toEqual([MINUTE_MS, MINUTE_MS, 60_100, 500_000]);
});

test('what waits gets older, a topic without letters has none, and after two pauses nothing is known', async () => {
  const { watch, letters, pass } = open([{ takesMs: 1_000, letters: [waitingOf('orders', 3, 20)] }]);
  expect(letters.report).toEqual({ waiting: null, expired: null });
  await watch();
  expect(letters.report.waiting).toEqual([waitingOf('orders', 3, 20), waitingOf('items', 0, 0)]);
  pass(200_000);
  expect(letters.report.waiting).toEqual([waitingOf('orders', 3, 220), waitingOf('items', 0, 0)]);
  pass(1);
  expect(letters.report.waiting).toBeNull();
});

test('those that expire are deleted a thousand at a time, and counted and logged by topic', async () => {
  const many = Array.from({ length: 1_000 }, (_, nth) => (nth < 400 ? 'orders' : 'gone'));
  const rounds = [{ deleted: many }, { deleted: ['orders'] }, { letters: [] }, { deleted: [] }, { letters: [] }];
  const { watch, letters, logged } = open(rounds, { keep: '7d' });
  await watch();
  expect([...(letters.report.expired ?? [])]).toEqual([
    ['items', 0],
    ['orders', 401],
    ['gone', 600],
  ]);
  expect(logged).toEqual([
    ['info', { topic: 'orders', letters: 401 }],
    ['info', { topic: 'gone', letters: 600 }],
  ]);
});

test('a count that fails leaves what is known, and each reason but an outage is logged once', async () => {
  const outage = new OutageError('PostgreSQL is away', { reason: 'database_away' });
  const [first, second] = [new Error('no right'), new Error('no table')];
  const errors = [first, first, outage, second, first].map((error) => ({ error }));
  const { watch, logged, letters } = open([{ letters: [waitingOf('orders', 1, 0)] }, ...errors, {}, { error: first }]);
  await watch();
  expect(logged).toEqual(['no right', 'no table', 'no right', 'no right'].map((reason) => ['warn', { reason }]));
  expect(letters.report.waiting).toEqual([waitingOf('items', 0, 0), waitingOf('orders', 0, 0)]);
});

test('nothing is asked where letters go to a topic alone and none expires', async () => {
  const { watch, waits, letters } = open([{}], { to: 'topic', topic: 'orders.dead-letters' });
  await watch();
  expect([waits, letters.report]).toEqual([[], { waiting: null, expired: null }]);
});
