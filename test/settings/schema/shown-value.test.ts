import { describe, expect, test } from '@jest/globals';
import type { SchemaNode } from '../../../settings/schema/schema.ts';
import { allowedValues } from '../../../settings/schema/schema-problems.ts';
import { MASK, shownKey, shownPath, shownValue } from '../../../settings/schema/shown-value.ts';
import { SettingsSchema } from '../../../settings/settings.ts';

describe('a refused value', () => {
  test.each([
    ...['8081x', '99999', 'disabled', 'optional', 'external', 'earlist', '10.1.2.3:70000', 'kafka:99999'],
    ...['5min', '30sec', '90 minutes', 'PT5M', '1h30m', '2MiB', '512Megabyte', '10 MB'],
  ])('that is a slip of every day is shown: %s', (text) => {
    expect(shownValue(text)).toBe(text);
  });

  test.each([
    'correct-horse-battery-staple-9',
    'Tr0ub4dor&3',
    'hunter2hunter2',
    'user:swordfish',
    'sk_live_51H8xJ2eZv',
  ])('that may be a secret is not: %s', (text) => {
    expect(shownValue(text)).toBe(MASK);
  });
});

describe('a key that is not known', () => {
  test.each([
    ...['compression', 'prometheus', 'distribution', 'application', 'pgbouncer', 'connection_limit', 'currentSchema'],
    ...['PGPASSWORD', 'NODE_TLS_REJECT_UNAUTHORIZED', 'MANAGEMENT_SERVER_PORT', 'LD_PRELOAD'],
  ])('is shown where it looks like a name: %s', (key) => {
    expect(shownKey(key)).toBe(key);
  });

  test.each(['Tr0ub4dor3', 'aB3dE6gH9', 'x7Kq2', 'postgresql://u:p@h/d'])('is masked where it does not: %s', (key) => {
    expect(shownKey(key)).toBe(MASK);
  });
});

describe('the place of a problem', () => {
  const seconds = 'terminationGracePeriodSeconds';
  const schema: SchemaNode = {
    properties: {
      [seconds]: {},
      pods: { properties: { spread: {} } },
      databaseCredentials: {},
      list: { items: { properties: { automountServiceAccountToken: {} } } },
    },
  };
  const more: SchemaNode = { properties: { allowPrivilegeEscalation: {} } };

  test.each([
    `pods.${seconds}`,
    'pods.terminationGracePeriodSecond',
    'pods.terminatoinGracePeriodSeconds',
    'automountServiceAccountToken',
    'list[3].allowPrivilegeEscalation.allowPrivilegeEscalations',
  ])('shows a key that a schema has, or hardly differs from one, at any place: %s', (path) => {
    expect(shownPath(schema, path, [more])).toBe(path);
  });

  test.each([
    ['pods.Tr0ub4dor3', `pods.${MASK}`],
    ['pods.terminationGracePeriod5econds', `pods.${MASK}`],
    ['pods.terminationGraceSeconds', `pods.${MASK}`],
    ['pods.databaseCredentialz', `pods.${MASK}`],
    ['list[3].x7Kq2', `list[3].${MASK}`],
    ['pods.allowPrivilegeEscalation', `pods.${MASK}`],
  ])('masks any other key, as a slip makes a password a key: %s', (path, shown) => {
    expect(shownPath(schema, path)).toBe(shown);
  });
});

/** Each node of a schema that names its values one by one, and these. */
function choices(node: SchemaNode): { readonly node: SchemaNode; readonly values: readonly unknown[] }[] {
  const branches = (node.anyOf ?? []).flatMap(({ const: value, enum: values = value === undefined ? [] : [value] }) => [
    ...values,
  ]);
  const values = [...(node.enum ?? []), ...branches];
  const inner = [
    ...Object.values(node.properties ?? {}),
    ...Object.values(node.patternProperties ?? {}),
    ...(node.anyOf ?? []),
    ...(node.items === undefined ? [] : [node.items]),
  ];
  return [...(values.length > 0 ? [{ node, values }] : []), ...inner.flatMap(choices)];
}

test('what is allowed in the place of a refused choice is all the words that there are', () => {
  const found = choices(SettingsSchema as SchemaNode);
  expect(found.length).toBeGreaterThan(20);
  for (const { node, values } of found) {
    const allowed = allowedValues(node);
    expect(values.filter((value) => !allowed.includes(String(value)))).toEqual([]);
  }
});
