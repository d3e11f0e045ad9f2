import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  filled,
  isRead,
  isTemplate,
  namesIn,
  partsOf,
  type TopicNames,
  takenBy,
  templateMistake,
} from '../../../../settings/sections/tables/topic-template.ts';

const word = fc.stringMatching(/^[a-z0-9_-]{1,3}$/);
/** Few letters, so that texts match often; `__` begins topics of Kafka's own. */
const topic = fc
  .array(fc.oneof(word, fc.constantFrom('a', 'b', 'dead-letters', '__a')), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join('.'));
const template = fc
  .array(fc.oneof(word, fc.constantFrom('a', 'b', '{schema}', '{table}', '{any}')), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join('.'))
  .filter((text) => isTemplate(text) && templateMistake(text) === undefined);

/** The template as a regular expression: what the settings do not have is what the test compares with. */
const asPattern = (text: string): RegExp =>
  new RegExp(`^${text.replaceAll('.', '[.]').replaceAll(/\{[^}]*\}/g, '([a-zA-Z0-9_-]+)')}$`);

const ALL: TopicNames = { read: [], deadLetters: undefined };

const take = (name: string, topics: readonly string[], except: readonly string[] = []) =>
  takenBy(name, { topics, except }, ALL).map(({ text }) => text);

describe('a template', () => {
  test('matches what its regular expression matches, and has the same parts', () => {
    fc.assert(
      fc.property(template, topic, (text, name) => {
        const [, ...expected] = asPattern(text).exec(name) ?? [undefined];
        const parts = partsOf(text, name);
        expect(parts !== undefined).toBe(asPattern(text).test(name));
        expect([...(parts ?? new Map())].filter(([key]) => key !== 'any')).toEqual(
          parts === undefined ? [] : namesIn(text).flatMap((key, nth) => (key === 'any' ? [] : [[key, expected[nth]]])),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test('is its topic again when its own text is filled with the parts', () => {
    const once = template.filter((text) => namesIn(text).filter((name) => name === 'any').length <= 1);
    fc.assert(
      fc.property(once, fc.array(word, { minLength: 4, maxLength: 4 }), (text, words) => {
        const name = namesIn(text).reduce((made, key, nth) => made.replace(`{${key}}`, words[nth] ?? 'x'), text);
        const parts = partsOf(text, name);
        expect(parts && filled(text, parts)).toBe(name);
      }),
    );
  });

  test.each([
    ['shop.{schema}.{table}', 'shop.public.orders', ['public', 'orders']],
    ['shop.{schema}.{table}', 'shop.public.orders.eu', undefined],
    ['shop.{schema}.{table}', 'xshop.public.orders', undefined],
    ['shop.{schema}.{table}', 'shop..orders', undefined],
    ['{table}', 'Orders_2026-eu', ['Orders_2026-eu']],
  ])('%s takes %s apart into %j', (text, name, parts) => {
    const found = partsOf(text, name);
    expect(found && [...found.values()]).toEqual(parts);
  });

  test.each([
    ['shop.{schema', 'has braces that are not around one whole part between dots'],
    ['shop.x{table}', 'has braces that are not around one whole part between dots'],
    ['shop.{a.b}', 'has braces that are not around one whole part between dots'],
    ['shop..{table}', 'has braces that are not around one whole part between dots'],
    ['shop.{}', 'has a name in braces that is none: {}'],
    ['shop.{1a}', 'has a name in braces that is none: {1a}'],
    ['{table}.{table}', 'has {table} twice'],
    ['{any}.{any}', undefined],
  ])('%s: %s', (text, message) => {
    expect(templateMistake(text)?.message).toBe(message);
  });
});

describe('an entry takes', () => {
  test('a topic by its name, whatever its templates leave out, and by each template that matches', () => {
    expect(take('a.b', ['a.b', '{x}.b', 'a.{y}', 'c.{z}'])).toEqual(['a.b', '{x}.b', 'a.{y}']);
    expect(take('a.b', ['a.b', '{x}.b'], ['a.{any}'])).toEqual(['a.b']);
    expect(take('a.b', ['{x}.b'], ['a.b'])).toEqual([]);
    expect(take('c.b', ['{x}.b'], ['a.b', 'a.{any}'])).toEqual(['{x}.b']);
  });

  test('by no template a topic of another program, or the one for dead letters', () => {
    const names = { read: [{ topics: ['{any}'], except: [] }], deadLetters: 'letters' };
    expect(['__consumer_offsets', '_schemas', 'letters', 'orders'].map((name) => isRead(name, names))).toEqual([
      false,
      true,
      false,
      true,
    ]);
    const named = { ...names, read: [{ topics: ['__transaction_state', 'letters'], except: [] }] };
    expect(['__transaction_state', 'letters'].map((name) => isRead(name, named))).toEqual([true, true]);
  });

  test('by no template the dead letters of a topic that the settings read, whether the topic is there or not', () => {
    const choice = fc.record({
      topics: fc.uniqueArray(fc.oneof(topic, template), { minLength: 1, maxLength: 3 }),
      except: fc.uniqueArray(fc.oneof(topic, template), { maxLength: 2 }),
    });
    const choices = fc.array(choice, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(choices, topic, fc.option(topic, { nil: undefined }), (read, name, deadLetters) => {
        const names = { read, deadLetters };
        const letters = `${name}.dead-letters`;
        const isNamed = (of: string) => read.some(({ topics }) => topics.includes(of));
        fc.pre(!isNamed(letters));
        expect(isRead(name, names) && isRead(letters, names)).toBe(false);
        expect(name.startsWith('__') && isRead(name, names) && !isNamed(name)).toBe(false);
        // Beside these rules, a choice is what its regular expressions say.
        const [first] = read;
        const isPlain = !name.startsWith('__') && !name.endsWith('.dead-letters') && name !== deadLetters;
        if (first !== undefined && isPlain) {
          const isLeft = first.except.some((text) => text === name || (isTemplate(text) && asPattern(text).test(name)));
          const expected = first.topics.filter(
            (text) => text === name || (isTemplate(text) && !isLeft && asPattern(text).test(name)),
          );
          expect(
            takenBy(name, first, names)
              .map(({ text }) => text)
              .toSorted(),
          ).toEqual(expected.toSorted());
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
