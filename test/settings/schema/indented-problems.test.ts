import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { checkAgainst } from '../../../settings/schema/check.ts';
import { closed, section } from '../../../settings/schema/schema.ts';

const Schema = Type.Object(
  {
    image: Type.Object({ repository: Type.String(), tag: Type.Optional(Type.String()) }, closed),
    pods: Type.Object({ spread: Type.Optional(Type.Boolean()), probes: Type.Optional(Type.String()) }, section),
    labels: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z0-9./]+$' }), Type.String())),
    tables: Type.Optional(
      Type.Array(
        Type.Object({ topic: Type.String(), when: Type.Optional(Type.Record(Type.String(), Type.String())) }, closed),
      ),
    ),
    kafka: Type.Object({ secret: Type.Optional(Type.String()) }, section),
    one: Type.Object({ certificate: Type.Optional(Type.String()), key: Type.Optional(Type.String()) }, section),
    another: Type.Object({ certificate: Type.Optional(Type.String()), key: Type.Optional(Type.String()) }, section),
    inner: Type.Object(
      { kafka: Type.Object({ brokers: Type.String(), topics: Type.Optional(Type.String()) }, closed) },
      closed,
    ),
  },
  closed,
);

const RIGHT = { image: { repository: 'r' }, inner: { kafka: { brokers: 'b' } } };

const problems = (input: object) => {
  const checked = checkAgainst(Schema, input);
  return checked.ok ? [] : checked.problems.map(({ path, message }) => [path, message]);
};

describe('one wrong indentation is one problem', () => {
  test.each<readonly [name: string, input: object, path: string, message: string]>([
    [
      'a key that is not deep enough',
      { ...RIGHT, image: {}, repository: 'r' },
      'repository',
      'is not a known key here, and image.repository is missing: look at the indentation',
    ],
    [
      'a section that is too deep, with its keys beside it',
      { inner: RIGHT.inner, pods: { repository: 'r', tag: 't' } },
      'pods.repository',
      'is not a known key here, nor is tag, and image is missing: look at the indentation',
    ],
    [
      'a section that is too deep, with its keys in it',
      { inner: RIGHT.inner, pods: { image: { repository: 'r' } } },
      'pods.image',
      'is not a known key here, and image is missing: look at the indentation',
    ],
    [
      'a section in a section that is missing',
      { image: RIGHT.image, pods: { kafka: { brokers: 'b' } } },
      'pods.kafka',
      'is not a known key here, and inner is missing: look at the indentation',
    ],
    [
      'a section that is not deep enough, where another one has its name',
      { image: RIGHT.image, kafka: { brokers: 'b', topics: 't' } },
      'kafka.brokers',
      'is not a known key here, nor is topics, and inner is missing: look at the indentation',
    ],
    [
      'keys of a section that may be left out',
      { ...RIGHT, image: { repository: 'r', spread: true, probes: 'p' } },
      'image.spread',
      'is not a known key here, nor is probes, and pods has such keys: look at the indentation',
    ],
    [
      'a section whose keys are all not deep enough',
      { image: RIGHT.image, inner: { kafka: null, brokers: 'b', topics: 't' } },
      'inner.brokers',
      'is not a known key here, nor is topics, and inner.kafka has nothing in it: look at the indentation',
    ],
    [
      'a section at the top whose only key is not deep enough',
      { ...RIGHT, pods: null, spread: true },
      'spread',
      'is not a known key here, and pods has nothing in it: look at the indentation',
    ],
    [
      'the name of a section that is too deep, and its keys are not',
      { ...RIGHT, image: { repository: 'r', pods: null, spread: true, probes: 'p' } },
      'image.pods',
      'is not a known key here, nor is spread, probes, and pods has such keys: look at the indentation',
    ],
    [
      'the name of a section that has to be there',
      { inner: RIGHT.inner, pods: { spread: true, image: null, repository: 'r' } },
      'pods.image',
      'is not a known key here, nor is repository, and image has such keys: look at the indentation',
    ],
    [
      'sections of the top level',
      { ...RIGHT, pods: { labels: {}, another: {} } },
      'pods.labels',
      'is not a known key here, nor is another, and the top level has such keys: look at the indentation',
    ],
    [
      'the name of a map of free names that is too deep, and its keys are not',
      { ...RIGHT, pods: { labels: null, 'example.com/team': 'orders', tier: 'backend' } },
      'pods.labels',
      'is not a known key here, nor is example.com/team, tier, and labels has such keys: look at the indentation',
    ],
    [
      'a map of free names in an item of a list, whose keys are not deep enough',
      { ...RIGHT, tables: [{ topic: 'orders' }, { topic: 'events', when: null, type: 'created' }] },
      'tables[1].type',
      'is not a known key here, and tables[1].when has nothing in it: look at the indentation',
    ],
    [
      'a section that is in a map of free names',
      { inner: RIGHT.inner, labels: { 'example.com/team': 'orders', image: { repository: 'r' } } },
      'labels.image',
      'is not a known key here, and image is missing: look at the indentation',
    ],
    [
      'the keys of a section in a map of free names',
      { ...RIGHT, image: {}, labels: { repository: 'r', tag: ['t'] } },
      'labels.tag',
      'is not a known key here, and image.repository is missing: look at the indentation',
    ],
  ])('%s', (_name, input, path, message) => {
    expect(problems(input)).toEqual([[path, message]]);
  });

  test('and a section of another type, or with nothing in it alone, is a problem of its own', () => {
    expect(
      problems({ ...RIGHT, pods: 'x', spread: true })
        .map(([path]) => path)
        .toSorted(),
    ).toEqual(['pods', 'spread']);
    expect(
      problems({ ...RIGHT, pods: null, other: 1 })
        .map(([path]) => path)
        .toSorted(),
    ).toEqual(['other', 'pods']);
    const image = { repository: 'r', pods: null, other: 1 };
    expect(
      problems({ ...RIGHT, image })
        .map(([path]) => path)
        .toSorted(),
    ).toEqual(['image.other', 'image.pods']);
  });

  test('of some keys: more than 200 problems are no matter of one indentation', () => {
    const others = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, nth) => [`other${nth}`, 1]));
    const messages = (count: number) => problems({ ...RIGHT, pods: null, spread: true, ...others(count) });
    expect(messages(198)).toHaveLength(199);
    expect(messages(199)).toHaveLength(201);
  });

  test('and no other problem is part of it', () => {
    const found = new Map(problems({ ...RIGHT, image: { tag: 1 }, repository: 'r', replica: 2 }) as [string, string][]);
    expect([...found.keys()].toSorted()).toEqual(['image.tag', 'replica', 'repository']);
    expect(found.get('replica')).toBe('is not a known key');
    expect(found.get('repository')).toContain('and image.repository is missing');
  });

  test.each<readonly [name: string, input: object]>([
    ['a key that no section has', { ...RIGHT, image: { repository: 'r', hunter2: 'x', other: 'y' } }],
    ['one key of another section', { ...RIGHT, image: { repository: 'r', spread: true } }],
    ['keys that two sections have', { ...RIGHT, pods: { certificate: 'c', key: 'k' } }],
    [
      'keys that two sections have no more than one of',
      { ...RIGHT, image: { repository: 'r', spread: true, topics: 't' } },
    ],
  ])('but not %s: a free name is none of the schema', (_name, input) => {
    expect(new Set(problems(input).map(([, message]) => message))).toEqual(new Set(['is not a known key']));
  });
});
