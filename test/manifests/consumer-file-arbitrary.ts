import fc from 'fast-check';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { ConsumerFileSchema } from '../../deployment/consumer-file.ts';
import { valueAt } from '../../settings/document.ts';
import { describeProblem, type Problem } from '../../settings/problem.ts';
import { isMandatory, type SchemaNode } from '../../settings/schema.ts';
import { arbitraryOf } from './schema-arbitrary.ts';

type Document = Record<string, unknown>;

/** Values whose neighbours could hardly ever fit if they came from the whole of what the schema allows. */
const OVERRIDES = {
  'application.kafka.brokers[]': fc
    .tuple(fc.domain(), fc.integer({ min: 1, max: 65_535 }))
    .map((each) => each.join(':')),
  'application.kafka.topics[]': fc.stringMatching(/^[a-z][a-zA-Z0-9._-]{0,60}$/),
  'application.shutdown.timeout': fc.integer({ min: 1, max: 39 }).map((seconds) => `${seconds}s`),
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
  !isNeeded(path) && remove(document, path);

/** What asks for something that is missing elsewhere. */
const DEMANDING = ['scaling', 'rollout', 'kafka', 'application.kafka.sasl', 'application.management', 'monitoring'];

/** Removes the value of a problem, or else the section that it is missing in, or else one of the values it speaks of. */
function removeMistake(document: Document, { path }: Problem): boolean {
  const keys = keysOf(path);
  const parts = keys.map((_key, index) => keys.slice(0, keys.length - index));
  const present = parts.find((part) => typeof valueAt(document, part) === 'object') ?? [];
  const inner = Object.keys((valueAt(document, present) ?? {}) as object).map((key) => [...present, key]);
  return [...parts, ...inner].some((part) => removeOptional(document, part));
}

/**
 * Takes out of a file what the rules refuse, so that what is left is right: a schema alone does not know that a limit has
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
