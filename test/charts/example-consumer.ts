import { stringify } from 'yaml';
import { type CheckedConsumer, checkConsumerFile } from '../../deployment/check-consumer.ts';
import { type CheckedWorkload, checkedWorkload } from '../../deployment/checked-workload.ts';
import { describeProblem } from '../../settings/schema/problem.ts';
import { overlay } from '../../synthesis/overlay.ts';

const SMALLEST = {
  name: 'orders-consumer',
  image: { repository: 'localhost/stream-consumer' },
  database: { existingSecret: 'orders-consumer-database' },
  application: { kafka: { brokers: ['kafka:9092'], topics: ['orders'], groupId: 'orders-consumer' } },
};

/** The smallest consumer.yaml there is, as a file's text. */
export const SMALLEST_YAML = stringify(SMALLEST);

/** The smallest consumer.yaml there is, with changes laid over it. */
export function consumerDocument(changes: object = {}): unknown {
  return overlay(SMALLEST, changes);
}

/** The same, checked; a wrong one fails the test. */
export function exampleConsumer(changes: object = {}): CheckedConsumer {
  const checked = checkConsumerFile(consumerDocument(changes));
  if (!checked.ok) {
    throw new Error(checked.problems.map(describeProblem).join('\n'));
  }
  return checked.value;
}

/** The same, with everything that its objects derive from it. */
export const exampleWorkload = (changes: object = {}): CheckedWorkload => checkedWorkload(exampleConsumer(changes));
