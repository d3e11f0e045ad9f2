import { describe, expect, test } from '@jest/globals';
import { ReadTopics } from '../../../app/topics/read-topics.ts';
import { describeProblem } from '../../../settings/schema/problem.ts';
import { checkSettings } from '../../../settings/settings.ts';

const SHOP = { topic: 'shop.{schema}.{table}', except: 'shop.tmp.{any}', table: '{schema}.{table}' } as const;

function read(
  tables: readonly object[],
  topics: readonly string[] = [],
  reports: ConstructorParameters<typeof ReadTopics>[1] = {},
): ReadTopics {
  const checked = checkSettings({
    kafka: { brokers: ['localhost:9092'], groupId: 'replica', topics },
    database: { url: 'postgresql://localhost/replica' },
    tables,
  });
  if (!checked.ok) {
    throw new Error(checked.problems.map(describeProblem).join('\n'));
  }
  return new ReadTopics(checked.value, reports);
}

const tablesOf = ({ settings }: ReadTopics) =>
  settings.tables.map(({ topic, table, place }: { topic: string | string[]; table: string; place?: string }) => [
    place,
    topic,
    table,
  ]);

describe('the topics that are read', () => {
  test('are those that the settings name, with the very settings, where no template is in them', () => {
    const topics = read([{ topic: 'orders', table: 'public.orders' }], ['audit']);
    const { settings } = topics;
    topics.list(['shop.public.orders']);
    topics.use(['shop.public.orders']);
    expect(topics).toMatchObject({ names: ['audit', 'orders'], all: ['audit', 'orders'], templates: [], listed: [] });
    expect(topics.settings).toBe(settings);
  });

  test('are with a template those in use that it takes, each in an entry that knows its place', () => {
    const topics = read([{ topic: 'orders', table: 'public.orders' }, SHOP]);
    topics.use(['shop.public.items', 'shop.tmp.x', 'other', '__consumer_offsets']);
    topics.use(['shop.sales.bills']);
    expect(topics.all).toEqual(['orders', 'shop.public.items', 'shop.sales.bills']);
    expect(tablesOf(topics)).toEqual([
      ['tables[0]', ['orders'], 'public.orders'],
      ['tables[1](shop.public.items)', ['shop.public.items'], 'public.items'],
      ['tables[1](shop.sales.bills)', ['shop.sales.bills'], 'sales.bills'],
    ]);
    topics.drop(['shop.public.items', 'orders']);
    expect(topics.all).toEqual(['orders', 'shop.sales.bills']);
    expect(tablesOf(topics).map(([, , table]) => table)).toEqual(['public.orders', 'sales.bills']);
  });

  test('of kafka.topics are named there, and go into records', () => {
    const topics = read([], ['audit', 'log.{any}']);
    topics.use(['log.a', 'log.a.dead-letters']);
    expect(topics.settings.kafka.topics).toEqual(['audit', 'log.a']);
  });

  test('are not in use for being listed, yet one that is listed may keep one in use waiting', () => {
    const topics = read([{ topic: '{source}.{table}', table: 'public.{table}' }]);
    topics.use(['a.orders', 'a.items']);
    topics.list(['a.orders', 'b.orders', 'b.other', 'a.b.c']);
    expect(topics.listed).toEqual(['a.orders', 'b.orders', 'b.other']);
    expect(topics.all).toEqual(['a.items', 'a.orders']);
    expect([...topics.waiting.keys()]).toEqual(['a.orders']);
    expect(tablesOf(topics).map(([, topic]) => topic)).toEqual([['a.items']]);
    topics.list(['a.orders', 'a.items']);
    expect([...topics.waiting.keys()]).toEqual([]);
  });

  test('are reported once when they are in use', () => {
    const used: (readonly string[])[] = [];
    const topics = read([SHOP], ['audit'], { onUsed: (added) => used.push(added) });
    topics.use(['shop.a.b', 'audit', 'other']);
    topics.use(['shop.a.b']);
    topics.use(['shop.a.b', 'shop.a.c']);
    expect(used).toEqual([['shop.a.b'], ['shop.a.c']]);
  });

  test('are templated where a template alone takes them', () => {
    const topics = read([SHOP, { topic: 'shop.public.orders', table: 'public.history' }]);
    expect(['shop.public.orders', 'shop.public.items', 'shop.tmp.x'].map((topic) => topics.isTemplated(topic))).toEqual(
      [false, true, false],
    );
  });
});
