import { expect, test } from '@jest/globals';
import { startDebezium, startSourcePostgres } from '../../../../dev/stack/connect/debezium-source.ts';
import { longTest } from '../../stack/long-test.ts';
import { randomName } from '../../stack/random-name.ts';
import { sharedBroker } from '../../stack/shared-stack.ts';
import { testRun } from '../../stack/test-run.ts';

test('Kafka Connect is not started without a connector', async () => {
  const run = await testRun();
  const starting = startDebezium(run, { source: await startSourcePostgres(run), broker: sharedBroker(), topics: [] });
  await expect(starting).rejects.toThrow('Kafka Connect was given no connector to run: name at least one');
});

longTest('a connector that cannot start is told with its cause', async () => {
  const run = await testRun();
  const source = await startSourcePostgres(run);
  const broken = { prefix: randomName('source'), hasSchemas: false, partitions: 1 };
  const topics = [{ ...broken, properties: { 'database.password': 'wrong' } }];
  await expect(startDebezium(run, { source, broker: sharedBroker(), topics })).rejects.toThrow(
    /^Kafka Connect failed to start(.|\n)*password authentication failed(.|\n)*Failed to create connector/,
  );
});
