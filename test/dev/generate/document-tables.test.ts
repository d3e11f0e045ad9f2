import { describe, expect, test } from '@jest/globals';
import { ALERTS, type AlertDefinition } from '../../../contract/alerts.ts';
import { firingTable, replaceSection } from '../../../dev/generate/document-tables.ts';

const MARKED = 'before\n<!-- generated:a -->\nold\n<!-- /generated:a -->\nafter';

test('what stands between the marks is replaced, and only that', () => {
  expect(replaceSection(MARKED, 'a', 'new')).toBe(
    'before\n<!-- generated:a -->\n\nnew\n\n<!-- /generated:a -->\nafter',
  );
});

test('replacing twice gives the same text', () => {
  const once = replaceSection(MARKED, 'a', 'new');
  expect(replaceSection(once, 'a', 'new')).toBe(once);
});

test('a text without the marks stays as it is', () => {
  expect(replaceSection(MARKED, 'b', 'new')).toBe(MARKED);
});

test('a section that is never closed is an error that names the mark to add', () => {
  expect(() => replaceSection('<!-- generated:a -->', 'a', 'new')).toThrow('<!-- /generated:a -->');
});

describe('the list of what fires', () => {
  const rows = new Map(
    firingTable()
      .split('\n')
      .slice(2)
      .map((row) => row.split('|').map((cell) => cell.trim()))
      .map(([, name = '', warning = '', critical = '']) => [name, { warning, critical }]),
  );

  test('has each alert once, with its runbook', () => {
    expect([...rows.keys()]).toEqual(Object.keys(ALERTS).map((name) => `[${name}](runbooks/${name}.md)`));
  });

  test.each(Object.entries<AlertDefinition>(ALERTS))(
    'has of %s the levels that there are, with their times',
    (name, { warning, critical }) => {
      const cells = rows.get(`[${name}](runbooks/${name}.md)`);
      for (const [cell, level] of [
        [cells?.warning, warning],
        [cells?.critical, critical],
      ] as const) {
        expect(cell === '').toBe(level === undefined);
        expect(cell).not.toContain('#');
        expect(cell?.includes(`, for ${level?.for}`)).toBe((level?.for ?? '0s') !== '0s');
        expect(cell?.endsWith('(off unless switched on)')).toBe(level?.isOptional ?? false);
      }
    },
  );

  test.each([
    ['ConsumerLagHigh', 'warning', 'more than 10,000 records behind, for 5m'],
    ['ConsumerLagTime', 'critical', 'a record waits for more than 30 minutes, and ever longer, for 5m'],
    ['MemoryHigh', 'warning', 'above 80 % of the memory limit, for 5m'],
    ['TopicGone', 'critical', 'any Pods report that a topic is gone'],
    [
      'DeadLettersWaiting',
      'warning',
      'a letter is in the table for more than 7 days, for 15m (off unless switched on)',
    ],
    ['RecordsLate', 'warning', 'records are late 6 times as often as the objective allows, over 6 hours, for 2m'],
  ] as const)('shows the threshold of %s, %s, as a person says it', (name, level, text) => {
    expect(rows.get(`[${name}](runbooks/${name}.md)`)?.[level]).toBe(text);
  });
});
