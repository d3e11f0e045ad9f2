import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkedEnvironments } from '../../synthesis/checked-environment.ts';
import { folder, problems } from './environments-folder.ts';

describe('several consumers', () => {
  const LIST = `image: { repository: registry/stream-consumer }
database: { existingSecret: database }
application: { kafka: { brokers: ["a:1"] } }
consumers:
`;
  const consumers = (...entries: string[]): void =>
    writeFileSync(join(folder, 'consumer.yaml'), LIST + entries.map((entry) => `  - ${entry}\n`).join(''));
  const entry = (name: string, topics: string, groupId: string, more = ''): string =>
    `{ name: ${name}, application: { kafka: { topics: [${topics}], groupId: ${groupId} }${more} } }`;

  test('are checked one by one', () => {
    consumers(entry('orders', 'orders', 'a'), entry('payments', 'payments', 'b'));
    expect(checkedEnvironments(folder)).toMatchObject({
      ok: true,
      value: [
        { isList: true, consumers: [{ file: { name: 'orders' } }, { settings: { kafka: { topics: ['payments'] } } }] },
      ],
    });
  });

  test('a problem of what they share is told once, one of some says of which', () => {
    consumers(
      '{ name: orders, application: { kafka: { topics: [a] } } }',
      entry('payments', 'b', 'b'),
      entry('x', 'x', 'x'),
    );
    writeFileSync(join(folder, 'environments/staging.yaml'), 'replicas: -1\n');
    expect(problems()).toEqual([
      'application.kafka.groupId @ consumer.yaml:5:43, for orders',
      'replicas @ environments/staging.yaml:1:11',
    ]);
  });

  test('of one group write into one schema', () => {
    consumers(entry('one', 'a', 'g'), entry('two', 'a', 'g', ', database: { schema: other }'));
    expect(problems()).toEqual(['application.kafka.groupId @ consumer.yaml:6:64, for two']);
  });

  test('of one group read the same topics', () => {
    consumers(entry('one', 'a, b', 'g'), entry('two', 'b, a', 'g'), entry('three', 'a', 'g'));
    expect(problems()).toEqual([
      'application.kafka.groupId @ consumer.yaml:7:66, for three',
      'application.kafka.groupId @ consumer.yaml:7:66, for three',
    ]);
  });

  test('of two groups do not write one topic into one schema', () => {
    const elsewhere = ', database: { schema: other }';
    consumers(
      entry('one', 'a, b', 'g'),
      entry('two', 'b', 'h'),
      entry('three', 'b', 'i', elsewhere),
      entry('four', 'c', 'j'),
    );
    expect(problems()).toEqual(['application.database.schema @ consumer.yaml:6:31, for two']);
  });

  test('read the topics of their tables as well', () => {
    const orders = ', tables: [{ topic: b, table: public.orders }]';
    consumers(entry('one', 'a', 'g', orders), entry('two', 'a, b', 'g'), entry('three', '', 'h', orders));
    expect(problems()).toEqual([
      'application.database.schema @ consumer.yaml:7:33, for three',
      'application.database.schema @ consumer.yaml:7:33, for three',
    ]);
    consumers(entry('one', 'a', 'g', orders), entry('two', 'a', 'g'));
    expect(problems()).toEqual(['application.kafka.groupId @ consumer.yaml:6:64, for two']);
  });
});
