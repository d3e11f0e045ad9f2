import type { Problem } from '../../schema/problem.ts';

/** The names in braces, by which a topic's name is taken apart. */
export type TopicParts = ReadonlyMap<string, string>;

/** A name in braces takes one part between dots, of the characters that Kafka allows there. */
const PART = /^[a-zA-Z0-9_-]+$/;

/** What is between braces in a text. */
const BRACES = /\{([^{}]*)\}/g;

/** What a name in braces is made of. */
const NAME = /^[a-zA-Z][a-zA-Z0-9_]*$/;

/** The part that any topic has there; it may be in a template more than once. */
export const ANY = 'any';

/** Topics that Kafka and other programs keep their own records in begin so. */
const INTERNAL = '__';

/** Behind the name of a topic: the topic of its dead letters. */
const DEAD_LETTERS_SUFFIX = '.dead-letters';

/** Whether a text of the settings is a template, and not the name of a topic. */
export const isTemplate = (text: string): boolean => text.includes('{') || text.includes('}');

/** The names in braces of a template, or of a table that takes parts of one. */
export const namesIn = (text: string): readonly string[] => [...text.matchAll(BRACES)].map(([, name = '']) => name);

/** The name in braces that a part between dots is; `undefined`: it is one of letters. */
const nameOf = (part: string): string | undefined => /^\{([^{}]*)\}$/.exec(part)?.[1];

/** Why a template is none; `undefined` where it is one. */
export function templateMistake(text: string): Pick<Problem, 'message' | 'allowed'> | undefined {
  const allowed = 'a name in braces for each part between dots that differs, such as shop.{schema}.{table}';
  const parts = text.split('.');
  if (parts.some((part) => nameOf(part) === undefined && !PART.test(part))) {
    return { message: 'has braces that are not around one whole part between dots', allowed };
  }
  const names = namesIn(text);
  const wrong = names.find((name) => !NAME.test(name));
  if (wrong !== undefined) {
    const letters = 'a letter, then letters, digits and underscores';
    return { message: `has a name in braces that is none: {${wrong}}`, allowed: `${letters}, such as {table}` };
  }
  const twice = names.find((name, nth) => name !== ANY && names.indexOf(name) !== nth);
  return twice === undefined
    ? undefined
    : { message: `has {${twice}} twice`, allowed: `each name once; {${ANY}} for parts that nothing takes` };
}

/** The parts that a template takes a topic's name apart into; `undefined` where the whole name does not match. */
export function partsOf(template: string, topic: string): TopicParts | undefined {
  const [wanted, given] = [template.split('.'), topic.split('.')];
  if (wanted.length !== given.length) {
    return undefined;
  }
  const parts = new Map<string, string>();
  for (const [nth, want] of wanted.entries()) {
    const part = given[nth] ?? '';
    const name = nameOf(want);
    if (name === undefined ? want !== part : !PART.test(part)) {
      return undefined;
    }
    if (name !== undefined) {
      parts.set(name, part);
    }
  }
  return parts;
}

/** Puts the parts of a topic's name in the place of the names in braces. */
export const filled = (text: string, parts: TopicParts): string =>
  text.replaceAll(BRACES, (braces, name: string) => parts.get(name) ?? braces);

/** What an entry of the settings says of topics: names, and templates with what these leave out. */
export interface TopicChoice {
  readonly topics: readonly string[];
  /** Names and templates. */
  readonly except: readonly string[];
}

/** What of an entry takes a topic: its name, or the text of a template with the parts. */
export interface TakenBy {
  readonly text: string;
  readonly isTemplate: boolean;
  /** None by its name. */
  readonly parts: TopicParts;
}

const NO_PARTS: TopicParts = new Map();

/** What the settings say of topics, apart from one entry. */
export interface TopicNames {
  /** All names and templates of the settings that topics are read by. */
  readonly read: readonly TopicChoice[];
  /** The one topic for dead letters, where there is one. */
  readonly deadLetters: string | undefined;
}

/**
 * Whether no template takes the topic, whatever its text: it is of Kafka or another program, or takes dead letters, and
 * these would come back as records. Those of a topic that was deleted are dead letters, too, so only names count.
 */
function isNever(topic: string, names: TopicNames): boolean {
  const letters = topic.endsWith(DEAD_LETTERS_SUFFIX) ? topic.slice(0, -DEAD_LETTERS_SUFFIX.length) : '';
  return topic.startsWith(INTERNAL) || topic === names.deadLetters || (letters !== '' && isRead(letters, names));
}

/** Whether the settings read a topic of this name. */
export const isRead = (topic: string, names: TopicNames): boolean =>
  names.read.some((choice) => takenBy(topic, choice, names).length > 0);

/**
 * What of an entry takes a topic: at most its name, and each of its templates that matches. Nothing is taken twice by
 * one text.
 */
export function takenBy(topic: string, { topics, except }: TopicChoice, names: TopicNames): readonly TakenBy[] {
  const named = topics.includes(topic) ? [{ text: topic, isTemplate: false, parts: NO_PARTS }] : [];
  const matching = topics.filter(isTemplate).flatMap((text): readonly TakenBy[] => {
    const parts = partsOf(text, topic);
    return parts === undefined ? [] : [{ text, isTemplate: true, parts }];
  });
  const isExcepted = (): boolean => except.some((text) => text === topic || partsOf(text, topic) !== undefined);
  return matching.length === 0 || isExcepted() || isNever(topic, names) ? named : [...named, ...matching];
}
