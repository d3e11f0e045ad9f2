import { describe, expect, test } from '@jest/globals';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { consumerDocument } from '../charts/example-consumer.ts';

/** Where the problems of the usual consumer with such changes are. */
function places(changes: object): string[] {
  const checked = checkConsumerFile(consumerDocument(changes));
  return checked.ok ? [] : checked.problems.map(({ path }) => path);
}

describe('a ServiceAccount that is there already', () => {
  const placesOf = (serviceAccount: object) => places({ serviceAccount });

  test('is named', () => {
    expect(placesOf({ create: false })).toEqual(['serviceAccount.name']);
    expect(placesOf({ create: false, name: 'default' })).toEqual([]);
  });

  test('gets no annotations and labels', () => {
    expect(placesOf({ create: false, name: 'a', annotations: { b: 'c' }, labels: { d: 'e' } })).toEqual([
      'serviceAccount.annotations',
      'serviceAccount.labels',
    ]);
  });
});

test.each<[string, object, string]>([
  ['a key that is none', { key: 'a b' }, 'key'],
  ['a value that is none', { key: 'a', value: 'a b' }, 'value'],
  ['no key, and a value to compare', {}, 'operator'],
  ['a value that does not count', { operator: 'Exists', value: 'a' }, 'value'],
  ['seconds that do not count', { key: 'a', effect: 'NoSchedule', tolerationSeconds: 1 }, 'tolerationSeconds'],
])('a toleration with %s is refused, as the API server refuses it', (_, toleration, key) => {
  expect(places({ pods: { tolerations: [toleration] } })).toEqual([`pods.tolerations[0].${key}`]);
});

test("a Secret's key that the API server refuses is refused", () => {
  for (const url of ['..', '.', '..url']) {
    expect(places({ database: { keys: { url } } })).toEqual(['database.keys.url']);
  }
  expect(places({ database: { keys: { url: '.url' } } })).toEqual([]);
});
