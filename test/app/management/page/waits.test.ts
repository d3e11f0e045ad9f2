import { existsSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { PageFacts } from '../../../../app/management/page/facts.ts';
import type { ConsumerReport, WaitingTopic } from '../../../../app/stream/partition/consumer-state.ts';
import { anchorsIn, read } from '../../../docs/pages.ts';
import { ago, cellsOf, owned, pageWith, section, textOf } from './page-facts.ts';

const waitsIn = (facts: Partial<PageFacts>, report: Partial<ConsumerReport> = {}): string =>
  section(pageWith(facts, report), 'What waits');

const waitsOf = (...given: Parameters<typeof waitsIn>): string => textOf(waitsIn(...given));

/** Whether there is such a page of docs/, with that heading. */
function isPage(target: string): boolean {
  const [page = '', anchor] = target.split('#');
  return existsSync(page) && (anchor === undefined || anchorsIn(read(page)).includes(anchor));
}

const down = (name: string, error = 'Error: connect ECONNREFUSED') => ({
  components: { [name]: { status: 'DOWN', details: { error } } } as const,
});

const waitingTopic = (topic: string): WaitingTopic => ({
  topic,
  code: 'TABLES_DO_NOT_FIT',
  message: 'no such table',
  since: ago(60_000),
  isIgnored: false,
});

test('nothing waits where all is well', () => {
  expect(waitsOf({})).toContain('What waits Nothing that this process knows of.');
});

test.each<[string, Partial<PageFacts>, Partial<ConsumerReport>, readonly string[]]>([
  [
    'PostgreSQL is away',
    down('db'),
    {},
    [
      'Every record waits for PostgreSQL',
      'Error: connect ECONNREFUSED',
      'Bring PostgreSQL back',
      'DatabaseConnectionFailures.md',
    ],
  ],
  ['Kafka is away', down('kafka'), {}, ['New records wait in Kafka', 'Bring the brokers back', 'KafkaUnreachable.md']],
  [
    'writing is paused though the check is UP',
    {},
    { state: 'paused', lastError: 'SQLSTATE 55P03' },
    ['Every record waits for PostgreSQL since 10:00:00 UTC', 'SQLSTATE 55P03'],
  ],
  [
    'the group takes long',
    {},
    { state: 'assigning', stateSince: ago(11_000), lastError: 'online upgrade is disabled' },
    ['waits for partitions of its group, or for their positions since 11:59:49', 'online upgrade is disabled'],
  ],
  ['nobody joins', {}, { state: 'starting', stateSince: ago(11_000) }, ['has not joined its group yet']],
  [
    'a topic is not there at the start',
    {},
    {
      state: 'starting',
      unjoined: new Map([
        ['orders', 65_000],
        ['payments', 1_000],
      ]),
      lastError: 'no such topic',
    },
    ['waits for the topic orders: asked in vain for 1 min 5 s', 'no such topic', 'Create the topic'],
  ],
  [
    'the group is silent',
    {},
    { outOfGroupSince: ago(300_000) },
    ["its group's coordinator since 11:55:00 UTC (5 min)"],
  ],
  [
    'a topic is gone',
    {},
    { topics: [{ topic: 'orders', isGone: true }] },
    ['does not have the topic orders any more', 'TopicGone.md'],
  ],
  [
    'a topic of a template has no table',
    {},
    { waiting: [waitingTopic('shop.bills')] },
    [
      'The topic shop.bills waits alone: TABLES_DO_NOT_FIT since 11:59:00 UTC (1 min)',
      'no such table',
      'TopicWaits.md',
    ],
  ],
  [
    'the registry is away',
    {},
    { partitions: [owned(0, { schemasAwaited: { since: ago(60_000), reason: 'no answer' } })] },
    ['orders/0: a batch waits for a schema', 'since 11:59:00 UTC (1 min)', 'no answer', 'SchemaRegistryAway.md'],
  ],
  [
    'a batch cannot be read',
    {},
    {
      partitions: [
        owned(0, {
          unreadable: { topic: 'orders', partition: 0, offset: 7n, code: 'CORRUPT_BATCH', reason: 'wrong checksum' },
        }),
      ],
    },
    ['orders/0 stops in front of offset 7: CORRUPT_BATCH', 'wrong checksum', 'consumer.onBrokenBatch: skip'],
  ],
  [
    'an ACL denies a topic',
    {},
    {
      partitions: [
        owned(0, {
          unreadable: { topic: 'orders', partition: 0, offset: 7n, code: 'TOPIC_FORBIDDEN', reason: 'denied' },
        }),
      ],
    },
    ["Allow the consumer's user Read"],
  ],
  [
    'partitions have no leader',
    {},
    { partitions: Array.from({ length: 8 }, (_, nth) => owned(nth, { lag: null, leaderlessSince: ago(nth * 1_000) })) },
    [
      'No broker leads orders/0, orders/1, orders/2, orders/3, orders/4 and 3 more since 11:59:53 UTC',
      'PartitionLeaderless.md',
    ],
  ],
  [
    'a partition stalls',
    {},
    { partitions: [owned(0), owned(1, { stalledSince: ago(400_000) })], lastError: 'lock timeout' },
    ['Nothing was written of orders/1 since 11:53:20 UTC', 'lock timeout'],
  ],
  [
    'a position is not read',
    {},
    { partitions: [owned(0, { awaits: 'stored offset' })] },
    ['orders/0: waits for the stored offset', 'PostgreSQL has to return'],
  ],
  ['the disk is full', down('diskSpace', 'full'), {}, ['DOWN because of diskSpace', 'full']],
  [
    'dead letters wait',
    { letters: { waiting: [{ topic: 'orders', letters: 3, oldestSeconds: 7_200 }], expired: null } },
    {},
    ['3 letters, the oldest for 2 h', 'dead-letters list', 'dead-letters.md'],
  ],
  [
    'the process failed',
    {},
    { state: 'failed', lastError: 'OFFSETS_GONE' },
    ['ended by an error', 'OFFSETS_GONE', 'messages.md'],
  ],
  ['the process ends', {}, { state: 'draining' }, ['The process is ending since 10:00:00 UTC']],
])('what waits, why, and what mends it: %s', (_, facts, report, texts) => {
  const shown = waitsOf(facts, report);
  for (const text of texts) {
    expect(shown).toContain(text);
  }
  expect(shown).not.toContain('Nothing that this process knows of.');
  const pages = [...waitsIn(facts, report).matchAll(/href="[^"]+\/blob\/main\/([^"]+)"/g)].map(([, page = '']) => page);
  expect([pages.length > 0, pages.filter((page) => !isPage(page))]).toEqual([true, []]);
});

test('an assignment that is under way is nothing to look at', () => {
  expect(waitsOf({}, { state: 'assigning', stateSince: ago(9_000) })).toContain('Nothing that this process knows of.');
  const away = waitsOf(down('kafka'), { state: 'assigning', stateSince: ago(60_000) });
  expect(away).not.toContain('partitions of its group');
});

test('how long Kafka keeps what is unread of a topic that waits is shown where it is known', () => {
  const waitsWith = (more: Partial<WaitingTopic>) =>
    waitsOf({}, { waiting: [{ ...waitingTopic('shop.bills'), ...more }] });
  expect(waitsWith({ keptUntil: ago(-90_000) })).toContain('for another 1 min 30 s, by retention.ms');
  expect(waitsWith({ keptUntil: ago(1) })).toContain('may delete unread records now');
  expect(waitsWith({})).not.toContain('retention.ms');
});

test('a topic that waits and that nobody wants is nothing to look at', () => {
  const shown = waitsOf({}, { waiting: [{ ...waitingTopic('shop.bills'), isIgnored: true }] });
  expect(shown).toContain('Nothing that this process knows of.');
});

test('the lag of a topic that waits is not called unknown, and each of its partitions has the reason', () => {
  const waits = { topic: 'shop.bills', lag: null, topicWaitsSince: ago(60_000) };
  const html = pageWith({}, { partitions: [owned(0), owned(0, waits), owned(1, waits)] });
  expect(textOf(html)).not.toContain('not known');
  expect(cellsOf(html, 'shop.bills/0').at(-1)).toBe('its topic waits since 11:59:00 UTC (1 min)');
  expect(cellsOf(html, 'shop.bills ').at(-1)).toBe('2 partitions held up');
});

test('a partition that stalls for a reason that is listed is listed once', () => {
  const stalledSince = ago(400_000);
  const shown = waitsOf({}, { partitions: [owned(0, { stalledSince, lag: null, leaderlessSince: ago(500_000) })] });
  expect(shown).not.toContain('Nothing was written');
});

test('is a short list, whatever happens', () => {
  const topics = Array.from({ length: 50 }, (_, nth) => ({ topic: `topic-${nth}`, isGone: true }));
  const html = section(pageWith({}, { topics }), 'What waits');
  expect(html.match(/<li>/g)).toHaveLength(20);
  expect(textOf(html)).toContain('And 30 others, in the health.');
});
