import { expect, test } from '@jest/globals';
import { tablesOf } from '../../../../settings/sections/tables.ts';
import { checkSettings } from '../../../../settings/settings.ts';

const settingsWith = (entry: object) =>
  checkSettings({
    kafka: { brokers: ['broker:9092'], topics: [], groupId: 'replica' },
    database: { url: 'postgresql://db/replica' },
    tables: [{ topic: 'shop.{table}', table: 'public.{table}', ...entry }],
  });

test('an entry with a template says what its topics wait for; left out, they wait and fields are logged', () => {
  const tablesWith = (entry: object) => {
    const checked = settingsWith(entry);
    return checked.ok ? tablesOf(checked.value) : [];
  };
  const [said] = tablesWith({ missing: 'ignore', unmapped: 'wait' });
  expect(said).toMatchObject({ isUnwantedWhileMissing: true, waitsForColumns: true });
  for (const entry of [{}, { missing: 'wait', unmapped: 'log' }]) {
    const [plain = {}] = tablesWith(entry);
    expect(Object.keys(plain)).toEqual(expect.not.arrayContaining(['isUnwantedWhileMissing', 'waitsForColumns']));
  }
});

test('a topic that is named ends the consumer, so nothing is said of its waiting', () => {
  const checked = settingsWith({ topic: 'shop.orders', table: 'public.orders', missing: 'ignore', unmapped: 'wait' });
  expect(checked.ok ? [] : checked.problems.map(({ path, message }) => [path, message])).toEqual(
    ['missing', 'unmapped'].map((name) => [
      `tables[0].${name}`,
      'is about topics that a template takes, and topic names each',
    ]),
  );
});
