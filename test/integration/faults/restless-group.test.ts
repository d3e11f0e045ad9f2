import { expect } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { startSteadyLoad } from '../stack/steady-load.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

const PARTITIONS = 6;
const ROUNDS = 6;

longTest('a second and a third consumer that join and leave every few seconds: every record once', async () => {
  const topic = await createTopic({ partitions: PARTITIONS });
  const [groupId, schema] = [randomName('group'), randomName('schema')];
  const settings = { kafka: { sessionTimeout: '6s' }, consumer: { maxBatchRecords: 200 } };
  const start = () => startConsumer({ topics: [topic], groupId, schema, settings });
  const steady = await start();
  const load = await startSteadyLoad(topic, { partitions: PARTITIONS });
  for (let round = 0; round < ROUNDS; round += 1) {
    const [second, third] = [await start(), await start()];
    await Promise.all([second.waitForHealth(), third.waitForHealth()]);
    await load.more(500);
    second.kill('SIGTERM');
    third.kill(round % 3 === 1 ? 'SIGKILL' : 'SIGTERM');
    expect(await second.exited).toMatchObject({ code: 0 });
    await third.exited;
  }
  const records = await load.stop();
  await awaitEachOnce({ schema, topic, records, timeout: 60_000 });
  expect(await query(`SELECT * FROM ${schema}.dead_letters`)).toEqual([]);
  steady.kill('SIGTERM');
  expect(await steady.exited).toMatchObject({ code: 0 });
});
