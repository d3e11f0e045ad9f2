import fc from 'fast-check';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { ConsumerFileSchema } from '../../deployment/consumer-file.ts';
import { valueAt } from '../../settings/schema/document.ts';
import { describeProblem, type Problem } from '../../settings/schema/problem.ts';
import { isFreeMap, isMandatory, type SchemaNode } from '../../settings/schema/schema.ts';
import { tables } from '../../settings/sections/tables.ts';
import { KUBERNETES_WORDS } from './kubernetes-words-arbitrary.ts';

/** Arbitraries that take the place of the schema's own, by dotted path: where only another rule says what fits. */
type Overrides = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Enough for every combination that matters; large maps and lists only take time. */
const MOST_ITEMS = 3;
const LONGEST = 60;

/** How often an optional key is there: often enough that deep keys are generated, rarely enough that defaults apply. */
const PRESENT = { freq: 4, nil: undefined };

/** Values that a rule asks for, where the schema alone lets them be left out. */
const ALWAYS = ['application.kafka.topics'];

/** fast-check generates no text for a lookahead: texts are made without it, and those that it forbids are left out. */
const withoutLookaheads = (pattern: string): string => pattern.replaceAll(/\(\?[=!](?:[^()]|\([^()]*\))*\)/g, '');

function text({ pattern, minLength = 0, maxLength }: SchemaNode): fc.Arbitrary<string> {
  if (pattern === undefined) {
    return fc.string({ minLength, maxLength: Math.min(maxLength ?? LONGEST, LONGEST) });
  }
  const whole = new RegExp(pattern, 'u');
  return fc
    .stringMatching(new RegExp(withoutLookaheads(pattern), 'u'))
    .filter((each) => each.length >= minLength && each.length <= (maxLength ?? each.length) && whole.test(each));
}

function list(node: SchemaNode, path: string, overrides: Overrides): fc.Arbitrary<unknown[]> {
  const { items = {}, minItems = 0, maxItems = MOST_ITEMS } = node;
  const length = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, MOST_ITEMS)) };
  return fc.uniqueArray(arbitraryOf(items, `${path}[]`, overrides), {
    ...length,
    selector: (item) => JSON.stringify(item),
  });
}

function freeKeys(node: SchemaNode, path: string, overrides: Overrides): fc.Arbitrary<Record<string, unknown>> {
  const patterns = Object.entries(node.patternProperties ?? {});
  const [[pattern, value] = ['^.+$', node.additionalProperties as SchemaNode]] = patterns;
  const key = overrides[`${path}.*`] ?? text({ pattern });
  return fc.dictionary(key as fc.Arbitrary<string>, arbitraryOf(value, `${path}.*`, overrides), {
    maxKeys: 2,
    noNullPrototype: true,
  });
}

function section(node: SchemaNode, path: string, overrides: Overrides): fc.Arbitrary<unknown> {
  const entries = Object.entries(node.properties ?? {}).map(([key, child]) => {
    const value = arbitraryOf(child, path === '' ? key : `${path}.${key}`, overrides);
    const isAlways = isMandatory(node, key) || ALWAYS.includes(`${path}.${key}`);
    return [key, isAlways ? value : fc.option(value, PRESENT)] as const;
  });
  const known = fc.record(Object.fromEntries(entries), { noNullPrototype: true });
  const free = isFreeMap(node) ? freeKeys(node, path, overrides) : fc.constant({});
  return fc.tuple(free, known).map(([more, keys]) => ({
    ...more,
    ...Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined)),
  }));
}

/**
 * Values that a schema allows.
 *
 * @throws Error for a schema that is none of those this project writes
 */
function arbitraryOf(node: SchemaNode, path = '', overrides: Overrides = {}): fc.Arbitrary<unknown> {
  const given = overrides[path];
  if (given !== undefined) {
    return given;
  }
  if (node.const !== undefined || node.enum !== undefined) {
    return fc.constantFrom(...(node.enum ?? [node.const]));
  }
  if (node.anyOf !== undefined) {
    return fc.oneof(...node.anyOf.map((branch) => arbitraryOf(branch, path, overrides)));
  }
  const { minimum = 0, maximum = minimum + 1_000_000 } = node;
  switch (node.type) {
    case 'integer':
      return fc.integer({ min: minimum, max: maximum });
    case 'number':
      return fc.double({ min: minimum, max: maximum, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'string':
      return text(node);
    case 'array':
      return list(node, path, overrides);
    case 'object':
      return section(node, path, overrides);
    case undefined:
      return fc.jsonValue({ maxDepth: 2 });
    default:
      throw new Error(`${path}: no values for ${JSON.stringify(node)}`);
  }
}

type Document = Record<string, unknown>;

const TOPIC = fc.stringMatching(/^[a-z][a-zA-Z0-9._-]{0,60}$/);

const FIELD = fc.stringMatching(/^[a-z_]{3,20}(\.[a-z0-9]{1,20}){0,2}$/).filter((path) => !/^(true|false)$/.test(path));

const SOURCE = fc.oneof(
  fc.stringMatching(/^(\$key\.|\$header\.)?[a-zA-Z_ ]{1,20}(\.[a-z0-9]{1,20}){0,2}$/),
  fc.stringMatching(/^(\$key)?(\/([a-z."[\] ]|~[01]|0){0,20}){1,3}$/),
  fc.constantFrom('$value', '$key'),
);

const UNIT = fc.constantFrom('epoch-millis', 'base64', 'decimal(2)');

const COLUMN = fc.stringMatching(/^[A-Za-z0-9_. "]{1,20}$/);

/** Without a key nothing is replaced or deleted. */
const withoutKeyless = ({ existing, delete: field, ...entry }: Document): Document =>
  entry['key'] === undefined
    ? entry
    : { ...entry, ...(existing !== undefined && { existing }), ...(field !== undefined && { delete: field }) };

const TABLE = arbitraryOf(tables.items as SchemaNode, 'table', {
  'table.topic': fc.oneof(TOPIC, fc.uniqueArray(TOPIC, { minLength: 1, maxLength: MOST_ITEMS })),
  'table.key': fc.oneof(COLUMN, fc.uniqueArray(COLUMN, { minLength: 1, maxLength: MOST_ITEMS })),
  'table.delete': fc.oneof(fc.constant('never'), FIELD),
  'table.columns': fc.dictionary(COLUMN, fc.oneof(SOURCE, fc.record({ from: SOURCE, as: UNIT }), fc.constant(false)), {
    maxKeys: MOST_ITEMS,
    noNullPrototype: true,
  }),
}).map((entry) => withoutKeyless(entry as Document));

const CIDR = fc.oneof(
  fc.ipV4().map((address) => `${address}/32`),
  fc.constantFrom('0.0.0.0/0', '10.0.0.0/8', '2001:db8::/32', '::1/128'),
);

/** Values whose neighbours could hardly ever fit if they came from the whole of what the schema allows. */
const OVERRIDES = {
  'application.kafka.brokers[]': fc
    .tuple(fc.domain(), fc.integer({ min: 1, max: 65_535 }))
    .map((each) => each.join(':')),
  'application.kafka.topics': fc.uniqueArray(TOPIC, { minLength: 1, maxLength: MOST_ITEMS }),
  'application.tables[]': TABLE,
  // Certificates want TLS, and an authority has one source: left to chance, hardly any file would have certificates.
  'application.kafka.ssl': fc.constantFrom(true, true, true, false),
  ...Object.fromEntries(
    ['kafka', 'database'].map((server) => [
      `${server}.tls.ca`,
      fc.constantFrom({ existingSecret: 'authority' }, { existingConfigMap: 'authority', key: 'bundle.pem' }),
    ]),
  ),
  ...Object.fromEntries(
    ['ingress', ...['dns', 'brokers', 'database', 'tokens', 'others'].map((name) => `egress.${name}`)].map((place) => [
      `networkPolicy.${place}[].cidr`,
      CIDR,
    ]),
  ),
  'application.shutdown.timeout': fc.integer({ min: 1, max: 39 }).map((seconds) => `${seconds}s`),
  ...KUBERNETES_WORDS,
};

/** Keys of a path as problems write it, as far as the first list: of a list the whole goes. */
const keysOf = (path: string): string[] => (path.split('[')[0] ?? '').split('.').filter((key) => key !== '');

/** @returns whether the document had the value, and so is another one now */
function remove(document: Document, [key = '', ...rest]: readonly string[]): boolean {
  const value = document[key];
  if (rest.length > 0) {
    return typeof value === 'object' && value !== null && remove(value as Document, rest);
  }
  return delete document[key] && value !== undefined;
}

/** Whether a file could not be right without the value. */
function isNeeded(path: readonly string[], node = ConsumerFileSchema as SchemaNode): boolean {
  const [key = '', ...rest] = path;
  return isMandatory(node, key) && (rest.length === 0 || isNeeded(rest, node.properties?.[key]));
}

const removeOptional = (document: Document, path: readonly string[]): boolean =>
  !isNeeded(path) && !ALWAYS.includes(path.join('.')) && remove(document, path);

/** Sections that demand a value of another section. */
const DEMANDING = [
  ...['scaling', 'rollout', 'kafka', 'application.kafka.sasl', 'application.management', 'monitoring'],
  ...['schemaRegistry', 'application.schemaRegistry'],
];

/** Removes the value of a problem, or else the section that lacks it, or else one of the values of that section. */
function removeMistake(document: Document, { path }: Problem): boolean {
  const keys = keysOf(path);
  const parts = keys.map((_key, index) => keys.slice(0, keys.length - index));
  const present = parts.find((part) => typeof valueAt(document, part) === 'object') ?? [];
  const inner = Object.keys((valueAt(document, present) ?? {}) as object).map((key) => [...present, key]);
  return [...parts, ...inner].some((part) => removeOptional(document, part));
}

/**
 * Takes out of a file what the rules refuse, so that what is left is right: a schema alone cannot say that a limit has
 * to be above its request.
 */
function withoutMistakes(generated: unknown): Document {
  const document = structuredClone(generated) as Document;
  for (;;) {
    const checked = checkConsumerFile(document);
    if (checked.ok) {
      return document;
    }
    const removed = checked.problems.filter((problem) => removeMistake(document, problem));
    if (removed.length === 0 && !DEMANDING.some((path) => removeOptional(document, path.split('.')))) {
      throw new Error(`not to be mended:\n${problemText(checked.problems)}\n${JSON.stringify(document)}`);
    }
  }
}

const problemText = (problems: readonly Problem[]): string => problems.map(describeProblem).join('\n');

/** Any consumer.yaml that is right, as plain data. */
export const anyConsumerFile: fc.Arbitrary<Document> = arbitraryOf(ConsumerFileSchema as SchemaNode, '', OVERRIDES).map(
  withoutMistakes,
);
