import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { consumerPath } from '../../../deployment/sections/application.ts';
import { type PropsSection, propsFile, propsInterface, propsSections } from '../../../dev/generate/props.ts';
import { propsType } from '../../../dev/generate/typescript-text.ts';
import type { SchemaNode } from '../../../settings/schema/schema.ts';
import { exampleConsumer } from '../../charts/example-consumer.ts';

/** Longest default of a section, so that a doc comment shows it in three lines. */
const LONGEST = 250;

const fallbackOf = (node: SchemaNode, required: readonly string[] = []) =>
  propsSections({ type: 'object', required, properties: { tag: node } })[0]?.properties[0]?.fallback;

describe('what holds when a property is left out', () => {
  test.each<[string, SchemaNode, string]>([
    ['a text', { type: 'string', default: 'x' }, "'x'"],
    ['a number', { type: 'integer', default: 3 }, '3'],
    ['a list', { type: 'array', items: { type: 'string' }, default: [] }, '[]'],
    ['words', { type: 'string', description: "A tag. Left out: the package's version." }, "- the package's version"],
    ['words at the end', { type: 'string', description: 'A tag; left out: none' }, '- none'],
    ['a list of texts', { type: 'array', items: { type: 'string' }, default: ['a'] }, "['a']"],
    [
      'free names',
      { type: 'object', additionalProperties: { type: 'string' }, default: { 'a-b': 'c' } },
      "{ 'a-b': 'c' }",
    ],
    ['a section of nothing', { type: 'object', properties: {}, default: {} }, '{}'],
    [
      'a section',
      {
        type: 'object',
        properties: { on: { type: 'boolean', default: true }, tag: { type: 'string', description: 'Left out: none' } },
        default: {},
      },
      '{ on: true }',
    ],
  ])('is told for %s', (_what, node, fallback) => {
    expect(fallbackOf(node)).toBe(fallback);
  });

  test('is nothing where it may not be left out', () => {
    expect(fallbackOf({ type: 'string' }, ['tag'])).toBeUndefined();
  });

  test('has to be said: a property that says nothing is refused by its path', () => {
    expect(() => fallbackOf({ type: 'string', description: 'A tag.' })).toThrow('tag may be left out');
  });
});

function sectionOf(level: number): SchemaNode {
  const inner = level === 0 ? { type: 'string', default: 'x'.repeat(60) } : sectionOf(level - 1);
  return { type: 'object', properties: { one: inner, two: inner }, default: {} };
}

test('the default of a section of many leaves out its innermost maps', () => {
  const fallback = fallbackOf(sectionOf(2)) ?? '';
  expect(fallback).toBe('{ one: { one: { ... }, two: { ... } }, two: { one: { ... }, two: { ... } } }');
});

const withConsumerNames = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_key, each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).map(([key, inner]) => [consumerPath(key), inner]))
      : each,
  );

describe('of consumer.yaml', () => {
  const sections = propsSections();
  const named = (name: string): PropsSection['properties'] =>
    sections.find((each) => each.name === name)?.properties ?? [];
  const { file } = exampleConsumer({
    kafka: { existingSecret: 'k' },
    application: { kafka: { sasl: { mechanism: 'plain' } } },
  });

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['StreamConsumerProps', file],
    ['ApplicationProps', file.application],
  ])('the defaults of %s are what the check fills in', (name, complete) => {
    const told = named(name).filter(
      ({ key, fallback }) => key !== 'name' && fallback !== undefined && !/^-|\.{3}/.test(fallback),
    );
    expect(told.length).toBeGreaterThan(8);
    for (const { key, fallback = '' } of told) {
      expect([key, parse(fallback)]).toEqual([key, withConsumerNames(complete[key])]);
    }
  });

  test('no default refers to those of other properties, and none is long', () => {
    const fallbacks = sections.flatMap(({ properties }) => properties.flatMap(({ fallback }) => fallback ?? []));
    expect(fallbacks.filter((each) => each.includes('the default of each property') || each.length > LONGEST)).toEqual(
      [],
    );
  });
});

test('every section of the schema is there once, the whole file first', () => {
  const names = propsSections().map(({ name }) => name);
  expect(names[0]).toBe('StreamConsumerProps');
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(['ImageProps', 'ApplicationKafkaProps']));
});

test('an interface has a comment for each property, with what is allowed and the default', () => {
  const type = propsType({ type: 'integer' }, ['x', 'replicas']);
  const properties = [
    { key: 'replicas', type, description: 'Pods.', allowed: '0 to 9', fallback: '1' },
    { key: 'in-root', type, description: 'Whether.', allowed: '', fallback: undefined },
  ];
  expect(propsInterface({ name: 'XProps', path: [], about: 'About.', properties })).toBe(`/** About. */
export interface XProps {
  /**
   * Pods.
   *
   * Allowed: 0 to 9.
   *
   * @default 1
   */
  readonly replicas?: number;

  /** Whether. */
  readonly 'in-root': number;
}
`);
});

test('one file has the interface of every section and imports nothing', () => {
  const { path, content } = propsFile();
  const declared = [...content.matchAll(/^export interface (\w+) /gm)].map(([, name]) => name);
  expect(path).toBe('deployment/generated/props.ts');
  expect(declared).toEqual(propsSections().map(({ name }) => name));
  expect(content).not.toMatch(/^import/m);
});
