import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { bareStatus } from '../../../../app/management/page/page.ts';
import { SCRIPT, STYLE } from '../../../../app/management/page/style-and-script.ts';
import type { PartitionReport } from '../../../../app/stream/partition/consumer-state.ts';
import { ago, cellsOf, FACTS, owned, pageWith, RUNNING, section, textOf } from './page-facts.ts';

const HOSTILE = `"><script>alert('1')</script><img src=x onerror=alert(1)>`;

test('shows the state and since when, the version, the commit and the group', () => {
  const html = pageWith({ commit: 'ea6a10c' });
  expect(textOf(html)).toContain(
    'stream-consumer 1.2.3 (ea6a10c) Group orders-consumer ● UP · running since 10:00:00 UTC (2 h)',
  );
  expect(html).toContain('<title>UP · orders-consumer</title>');
  expect(textOf(pageWith({}, { stateSince: undefined as never }))).not.toContain('since 10:00');
});

test('shows each topic and partition with lag, age of the oldest record, rate and charts', () => {
  const points = { lag: [Number.NaN, 0, 1_234], perSecond: [Number.NaN, 10, 20] };
  const history = { ...FACTS.history, ofPartition: () => points, ofTopic: () => points, ofAll: points };
  const html = pageWith({ history }, { partitions: [owned(0), owned(1, { lag: 1_234n, behindSince: ago(65_000) })] });
  expect(cellsOf(html, 'orders ')).toEqual(['orders 2 of 4 partitions', '1,234', '1 min 5 s', '', '15', '', '']);
  expect(cellsOf(html, 'orders/0')).toEqual(['orders/0', '0', 'none', '', '15', '', '']);
  expect(cellsOf(html, 'all 2')).toEqual(['all 2', '1,234', '1 min 5 s', '', '15', '', '']);
  expect(html.match(/<svg /g)).toHaveLength(2 + 2 * 4);
  expect(html).toContain('aria-label="lag of orders/1, last 10 minutes: from 0 to 1,234"');
});

describe('what is not known', () => {
  test('is left out, never 0, and the sum says of how many', () => {
    const partitions = [owned(0, { lag: null, logEndAgeMs: 75_000 }), owned(1, { lag: 7n })];
    const html = pageWith({}, { partitions, lastProgressAt: null });
    expect(cellsOf(html, 'orders/0')).toEqual([
      ...['orders/0', '', '', '', '', ''],
      'end of the log not known for 1 min 15 s',
    ]);
    expect(cellsOf(html, 'all 2')).toEqual(['all 2', '7', '', '', '', '', 'lag of 1 partition not known']);
    expect(html).not.toContain('<svg ');
  });

  test('says its age where it is old', () => {
    const html = pageWith({}, { partitions: [owned(0, { lag: 7n, logEndAgeMs: 42_000 })] });
    expect(cellsOf(html, 'orders/0')[1]).toBe('7 (42 s ago)');
  });

  test('has no tile, table or count of its own', () => {
    const letters = { waiting: null, expired: null };
    const html = pageWith({ letters, recordTopics: [] }, { partitions: [], topics: [], lastProgressAt: null });
    expect(textOf(html)).toContain('Partitions The group has given this process none.');
    expect(pageWith({}, { partitions: [], unjoined: new Map() })).not.toContain('given this process none');
    for (const absent of ['<h3>Lag', '<h3>Records/s', '<h3>Oldest', '<h3>Dead letters', '<table', 'NaN', 'Infinity']) {
      expect(html).not.toContain(absent);
    }
  });
});

describe('with 1,000 partitions', () => {
  const partitions: readonly PartitionReport[] = Array.from({ length: 1_000 }, (_, partition) => {
    const lag = BigInt((partition * 7_919) % 1_000);
    return owned(partition, { lag, behindSince: lag > 0n ? ago(Number(lag)) : null });
  });
  const worse = partitions.map((each) => {
    switch (each.partition) {
      case 3:
        return { ...each, leaderlessSince: ago(60_000), lag: null };
      case 4:
        return { ...each, lag: null };
      default:
        return each;
    }
  });
  const points = { lag: Array.from({ length: 60 }, (_, nth) => nth % 13), perSecond: new Array(60).fill(8.25) };
  const history = { ...FACTS.history, ofPartition: () => points, ofTopic: () => points, ofAll: points };
  const html = pageWith({ history }, { partitions: worse });

  test('shows the twenty worst and the sum of all', () => {
    const rows = section(html, 'The 20 worst of 1,000 partitions').match(/scope="row">[^<]+/g) ?? [];
    const byLag = worse.filter(({ lag }) => lag !== null).toSorted((a, b) => Number((b.lag ?? 0n) - (a.lag ?? 0n)));
    const names = [3, 4, ...byLag.slice(0, 18).map(({ partition }) => partition)].map((nth) => `orders/${nth}`);
    expect(rows.map((row) => row.replace('scope="row">', ''))).toEqual([...names, 'all 1,000']);
    const sum = worse.reduce((total, { lag }) => total + Number(lag ?? 0n), 0);
    expect(cellsOf(html, 'all 1,000')[1]).toBe(sum.toLocaleString('en-US'));
  });

  test('is a few kilobytes on its way', () => {
    expect(gzipSync(html, { level: 1 }).length).toBeLessThan(8_192);
    expect(html.length).toBeLessThan(40_000);
    expect(STYLE.length + SCRIPT.length).toBeLessThan(6_000);
  });
});

test('with 30 topics it shows the twenty worst', () => {
  const partitions = Array.from({ length: 30 }, (_, nth) => owned(0, { topic: `topic-${nth}`, lag: BigInt(nth) }));
  const html = pageWith({}, { partitions });
  expect(section(html, 'The 20 worst of 30 topics').match(/scope="row">topic-\d+/g)?.[0]).toContain('topic-29');
  expect(html.match(/scope="row">topic-\d+ <small>/g)).toHaveLength(20);
});

test('shows tables with rows a second and what was done, and dead letters by reason and column', () => {
  const done = (operation: string, value: number) => ({ labels: { table: 'shop.orders', operation }, value });
  const figures = {
    ...FACTS.figures,
    rowsWritten: () => [{ labels: { topic: 'orders', method: 'copy' }, value: 12_000 }],
    tableRecords: () => [done('append', 0), done('upsert', 3_000), done('delete', 5)],
    deadLetters: () => [
      { labels: { topic: 'orders', reason: 'invalid_json' }, value: 0 },
      { labels: { topic: 'orders', reason: 'value_does_not_fit' }, value: 7 },
    ],
    tableDeadLetters: () => [
      { labels: { table: 'shop.orders', column: 'placed_at', reason: 'value_does_not_fit' }, value: 6 },
      { labels: { table: 'shop.orders', column: '', reason: 'no_value' }, value: 1 },
    ],
  };
  const history = { ...FACTS.history, ofTable: (name: string) => (name === 'records' ? [Number.NaN, 80, 120] : []) };
  const letters = { waiting: [{ topic: 'orders', letters: 9, oldestSeconds: 7_200 }], expired: null };
  const html = pageWith({ figures, history, letters });
  expect(cellsOf(html, 'records')).toEqual(['records', '100', '', 'append 12,000']);
  expect(cellsOf(html, 'shop.orders<')).toEqual(['shop.orders', '', '', 'upsert 3,000, delete 5']);
  const rows = section(html, 'Dead letters Counted since');
  expect(cellsOf(rows, 'orders<')).toEqual([
    ...['orders', '7'],
    'value_does_not_fit a value does not fit its column in a table of your own',
  ]);
  expect(cellsOf(rows, 'shop.orders, column placed_at').slice(0, 2)).toEqual(['shop.orders, column placed_at', '6']);
  expect(rows).not.toContain('invalid_json');
  expect(textOf(html)).toContain('Dead letters in the table 9 of the group, the oldest for 2 h');
  expect(textOf(pageWith({}))).toContain('None since this process started at 09:58:20 UTC');
});

test('shows PostgreSQL and Kafka with the error that each met last, also when it is over', () => {
  const db = { status: 'DOWN', details: { error: 'Error: connect ECONNREFUSED' } } as const;
  const html = pageWith(
    {
      components: { db, kafka: { status: 'UP' } },
      lastFailures: { db: { error: 'Error: connect ECONNREFUSED', at: ago(2_000) }, kafka: null },
    },
    { lastError: 'the topic took nothing', lastErrorAt: ago(90_000) },
  );
  const systems = textOf(section(html, 'Systems'));
  expect(systems).toContain(
    'PostgreSQL ✕ DOWN Last error 11:59:58 UTC (2 s ago): Error: connect ECONNREFUSED Kafka ● UP No error since the start.',
  );
  expect(systems).toContain('Last error 11:58:30 UTC (1 min 30 s ago): the topic took nothing');
  const over = pageWith({ lastFailures: { db: { error: 'Error: gone', at: ago(600_000) }, kafka: null } });
  expect(textOf(section(over, 'Systems'))).toContain(
    'PostgreSQL ● UP Last error 11:50:00 UTC (10 min ago): Error: gone',
  );
});

test('everything is escaped, whoever made it up', () => {
  const details = { error: HOSTILE };
  const html = pageWith(
    {
      version: HOSTILE,
      commit: HOSTILE,
      components: {
        db: { status: 'DOWN', details },
        kafka: { status: 'DOWN', details },
        [HOSTILE]: { status: 'DOWN' },
      },
      lastFailures: { db: { error: HOSTILE, at: ago(1) }, kafka: { error: HOSTILE, at: ago(1) } },
      recordTopics: [HOSTILE],
      links: new Map([[HOSTILE, HOSTILE]]),
      figures: {
        ...FACTS.figures,
        tableRecords: () => [{ labels: { table: HOSTILE, operation: HOSTILE }, value: 1 }],
        deadLetters: () => [{ labels: { topic: HOSTILE, reason: HOSTILE }, value: 1 }],
        tableDeadLetters: () => [{ labels: { table: HOSTILE, column: HOSTILE, reason: HOSTILE }, value: 1 }],
      },
      history: { ...FACTS.history, ofPartition: () => ({ lag: [1, 2], perSecond: [1, 2] }), ofTable: () => [1, 2] },
    },
    {
      groupId: HOSTILE,
      lastError: HOSTILE,
      unjoined: new Map([[HOSTILE, 60_000]]),
      topics: [{ topic: HOSTILE, isGone: true }],
      partitions: [
        owned(0, {
          topic: HOSTILE,
          unreadable: { topic: HOSTILE, partition: 0, offset: 7n, code: 'CORRUPT_BATCH', reason: HOSTILE } as never,
        }),
        owned(1, { topic: HOSTILE, schemasAwaited: { since: ago(1), reason: HOSTILE } }),
      ],
    },
  );
  expect(html.match(/<script/g)).toHaveLength(1);
  expect(html).not.toContain('<img');
  expect(html.match(/&lt;script&gt;/g)?.length).toBeGreaterThan(20);
  for (const [, attributes = ''] of html.matchAll(/<[a-z]+ ([^>]*)>/g)) {
    expect(attributes).toMatch(/^([a-z-]+(="[^"]*")? ?)*\/?$/i);
  }
});

test('without details it shows the status alone', () => {
  const html = bareStatus('DOWN');
  expect(textOf(html)).toBe(
    'DOWN · stream-consumer stream-consumer ✕ DOWN Details are hidden, as management.endpoint.health.show-details sets it. Pause',
  );
  expect(html).not.toContain(RUNNING.groupId);
});
