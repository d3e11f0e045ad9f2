import type { Problem } from '../settings/problem.ts';
import type { SchemaNode } from '../settings/schema.ts';
import { shownPath } from '../settings/shown-value.ts';
import { type CheckedConsumer, checkConsumerFile } from './check-consumer.ts';
import { ConsumerFileSchema } from './consumer-file.ts';
import { InvalidConsumerError } from './invalid-consumer-error.ts';

const NOT_PLAIN: Problem = {
  path: '',
  message: 'holds something that is no plain data, such as a function',
  allowed: 'what consumer.yaml could hold: maps, lists, strings, numbers, true and false',
};

const withShownPath = (problem: Problem): Problem => ({
  ...problem,
  path: shownPath(ConsumerFileSchema as SchemaNode, problem.path),
});

function isPlain(props: unknown): boolean {
  try {
    structuredClone(props);
    return true;
  } catch {
    return false;
  }
}

/**
 * Checks a construct's props as consumer.yaml is checked.
 *
 * @param subject who has the props, for the error's message
 * @throws InvalidConsumerError with all problems at once
 */
export function consumerOfProps(subject: string, props: unknown): CheckedConsumer {
  if (!isPlain(props)) {
    throw new InvalidConsumerError(subject, [NOT_PLAIN]);
  }
  const checked = checkConsumerFile(props);
  if (!checked.ok) {
    throw new InvalidConsumerError(subject, checked.problems.map(withShownPath));
  }
  return checked.value;
}
