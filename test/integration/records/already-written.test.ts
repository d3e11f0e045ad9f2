import { expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

test('another group that writes into the same schema is stopped with exit code 1, and nothing goes to the dead letters', async () => {
  const topic = await createTopic();
  await produce(topic, [{ value: '1' }, { value: '2' }]);
  const first = await startConsumer({ topics: [topic] });
  await awaitEachOnce({ schema: first.schema, topic, records: 2 });
  const second = await startConsumer({ topics: [topic], schema: first.schema });
  expect(await second.exited).toMatchObject({ code: 1 });
  const line = JSON.parse(second.logs.all.find((entry) => entry.includes('"fatal"')) ?? '{}');
  expect(line).toMatchObject({ code: 'RECORD_ALREADY_WRITTEN', msg: expect.stringContaining(second.groupId) });
  expect(line.msg).toContain('Give each group its own database.schema');
  expect(await query(`SELECT count(*)::int AS rows FROM ${first.schema}.dead_letters`)).toEqual([{ rows: 0 }]);
  expect(await query(`SELECT next_offset FROM ${first.schema}.offsets WHERE group_id = $1`, [second.groupId])).toEqual([
    { next_offset: '0' },
  ]);
});

test('a lost row of offsets is found out in the same way, for dead letters too', async () => {
  const topic = await createTopic();
  await produce(topic, [{ value: '{poison' }]);
  const first = await startConsumer({ topics: [topic] });
  const { schema, groupId } = first;
  await awaitEachOnce({ schema, topic, records: 1 });
  first.kill('SIGTERM');
  await first.exited;
  await query(`DELETE FROM ${schema}.offsets`);
  const second = await startConsumer({ topics: [topic], schema, groupId });
  expect(await second.exited).toMatchObject({ code: 1 });
  expect(second.logs.all.join('\n')).toContain('RECORD_ALREADY_WRITTEN');
  expect(await query(`SELECT count(*)::int AS rows FROM ${schema}.dead_letters`)).toEqual([{ rows: 1 }]);
});
