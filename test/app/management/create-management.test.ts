import { expect, test } from '@jest/globals';
import { createManagement } from '../../../app/management/create-management.ts';
import { aCommit } from '../stream/records.ts';
import { managementOptions, startManagement } from './running-management.ts';

const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

test('nothing runs before the start, and nothing is left after the stop', async () => {
  const before = timers();
  let checks = 0;
  const management = createManagement(
    managementOptions({
      checkDatabase: async () => {
        checks += 1;
      },
    }),
  );
  expect(checks).toBe(0);
  await management.start();
  expect(checks).toBe(1);
  expect(timers()).toBeGreaterThan(before);
  await management.stop();
  expect(timers()).toBeLessThanOrEqual(before);
});

test('what the pipeline tells is in the next scrape', async () => {
  const { management, app } = await startManagement();
  management.listener.onCommitted(aCommit({ records: 42 }));
  management.databaseConnectionFailed();
  const { body } = await app.inject({ url: '/actuator/prometheus' });
  expect(body).toMatch(/^kafka_consumer_records_consumed_total\{.*\} 42$/m);
  expect(body).toMatch(/^consumer_transactions_total\{.*outcome="committed"\} 1$/m);
  expect(body).toMatch(/^db_connection_failures_total\{.*\} 1$/m);
  await management.stop();
});
