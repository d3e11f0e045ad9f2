import { type CheckedConsumer, checkConsumerFile } from './check-consumer-file.ts';
import { InvalidConsumerError } from './invalid-consumer-error.ts';
import type { Problem } from './problem.ts';

const NOT_PLAIN: Problem = {
  path: '',
  message: 'holds something that is no plain data, such as a function',
  allowed: 'what consumer.yaml could hold: maps, lists, strings, numbers, true and false',
};

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
    throw new InvalidConsumerError(subject, checked.problems);
  }
  return checked.value;
}
