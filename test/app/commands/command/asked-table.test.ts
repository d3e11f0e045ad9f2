import { describe, expect, test } from '@jest/globals';
import { askedTable } from '../../../../app/commands/command/asked-table.ts';
import { settingsOfTopics } from '../../../../settings/sections/tables/tables-of-topics.ts';
import { checkSettings } from '../../../../settings/settings.ts';

const entry = (topic: string | readonly string[], table: string) => ({ topic, table });

/** The settings of these entries, by the topics that Kafka has. */
function named(tables: readonly object[], topics: readonly string[] = []) {
  const checked = checkSettings({
    kafka: { brokers: ['localhost:9092'], groupId: 'replica', topics: ['eu', 'other'] },
    database: { url: 'postgresql://localhost/replica' },
    tables,
  });
  if (!checked.ok) {
    throw new Error(JSON.stringify(checked.problems));
  }
  return settingsOfTopics(checked.value, topics);
}

const ORDERS = [entry(['eu', 'us'], 'public.orders'), entry('eu', 'audit.orders'), entry('bills', 'public.bills')];

/** What is left of the settings for one table. */
function found(asked: string, given = named(ORDERS)) {
  const table = askedTable(given, asked);
  if ('path' in table) {
    return table;
  }
  const { alone, withTopics } = table;
  const shown = (settings: typeof alone.settings) =>
    settings.tables.map(({ topic, table: name, ...rest }) => [topic, name, 'place' in rest ? rest.place : undefined]);
  return {
    alone: shown(alone.settings),
    withTopics: shown(withTopics.settings),
    records: alone.settings.kafka.topics,
    waiting: [...alone.waiting.keys()],
  };
}

describe('one table', () => {
  test('is found by its full name, and keeps its place in the settings and its topics', () => {
    expect(found('audit.orders')).toEqual({
      alone: [['eu', 'audit.orders', 'tables[1]']],
      withTopics: [
        [['eu'], 'public.orders', 'tables[0]'],
        [['eu'], 'audit.orders', 'tables[1]'],
      ],
      records: ['eu'],
      waiting: [],
    });
  });

  test('is found by its own name where only one schema has it, and by no part of it', () => {
    expect(found('bills')).toMatchObject({ alone: [['bills', 'public.bills', 'tables[2]']] });
    expect(found('orders')).toMatchObject({
      path: '--table',
      given: 'orders',
      nearest: expect.stringMatching(/orders$/),
    });
    expect(found('bils')).toMatchObject({ path: '--table', given: 'bils', nearest: 'public.bills' });
    expect(found('public')).toMatchObject({ path: '--table' });
  });

  test('of a template has the place of its entry', () => {
    const given = named(
      [entry('shop.{schema}.{table}', '{schema}.{table}')],
      ['shop.public.orders', 'shop.public.bills'],
    );
    expect(found('public.bills', given)).toMatchObject({
      alone: [[['shop.public.bills'], 'public.bills', 'tables[0](shop.public.bills)']],
    });
  });

  test('that two topics would share is found, and both wait', () => {
    const tables = [entry(['eu.{table}', 'us.{table}'], 'public.{table}')];
    const given = named(tables, ['eu.orders', 'us.orders', 'eu.bills']);
    expect(found('public.orders', given)).toMatchObject({ alone: [], waiting: ['eu.orders', 'us.orders'] });
    expect(found('public.bills', given)).toMatchObject({ waiting: [] });
  });

  test('that is unknown is a problem with twenty names at most', () => {
    const many = named(Array.from({ length: 22 }, (_, nth) => entry(`t${nth}`, `public.t${nth}`)));
    expect(found('public.x', many)).toMatchObject({ allowed: expect.stringMatching(/ public\.t19 and 2 more$/) });
    expect(found('x', named([]))).toMatchObject({ allowed: 'tables of the setting tables: none' });
  });
});
