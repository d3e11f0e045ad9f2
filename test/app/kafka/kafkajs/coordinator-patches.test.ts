import { afterEach, expect, test } from '@jest/globals';
import { internals } from '../../../../app/kafka/kafkajs/internals.ts';
import { clusterOf } from './client.ts';
import { coordinatorOf, metadataOf, noCoordinator, StubBroker } from './stub-broker.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const end of open.splice(0)) end.close();
});

const GROUP = { groupId: 'group' };

test('as shipped, a coordinator that was not found is no reason to try again, which is why it is patched', () => {
  const { KafkaJSGroupCoordinatorNotFound } = internals.errors;
  expect(new KafkaJSGroupCoordinatorNotFound('not found')).toMatchObject({ retriable: false });
});

const NOT_AVAILABLE = 15;
const NOT_AUTHORIZED = 30;
const UNKNOWN_SERVER_ERROR = -1;

/** @param errors of FindCoordinator, one after the other; behind the last one the coordinator is told */
async function lookUp(errors: readonly number[]): Promise<{ readonly nodeId: number } | Error> {
  let nth = 0;
  const broker: StubBroker = await StubBroker.start({
    metadata: () => metadataOf([broker]),
    findCoordinator: () => {
      const error = errors[nth];
      nth += 1;
      return error === undefined ? coordinatorOf(broker) : noCoordinator(error);
    },
  });
  const cluster = await clusterOf(broker);
  open.push(broker, { close: () => void cluster.disconnect() });
  const asked = cluster.findGroupCoordinatorMetadata({ ...GROUP, coordinatorType: 0 });
  return asked.then(
    (answer) => (answer as { readonly coordinator: { readonly nodeId: number } }).coordinator,
    (error: Error) => error,
  );
}

test('a coordinator that no broker knows is one', async () => {
  const found = await lookUp(Array(20).fill(NOT_AVAILABLE));
  expect(found).toMatchObject({ retriable: true, message: 'Failed to find group coordinator' });
});

test('a coordinator that is forbidden is not, and one that a broker tells by then is the answer', async () => {
  expect(await lookUp(Array(20).fill(NOT_AUTHORIZED))).toMatchObject({ type: 'GROUP_AUTHORIZATION_FAILED' });
  expect(await lookUp([UNKNOWN_SERVER_ERROR])).toMatchObject({ nodeId: 0 });
  expect(await lookUp([])).toMatchObject({ nodeId: 0 });
});
