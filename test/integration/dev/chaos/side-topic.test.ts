import { expect, test } from '@jest/globals';
import { endsOf, expectedOf, SideTopic } from '../../../../dev/chaos/side-topic.ts';
import { compareTables, loadExpected, unexpectedRows } from '../../../../dev/verdict/compare-tables.ts';
import { awaitAccounted } from '../../../../dev/verdict/positions.ts';
import { query, withDatabase } from '../../stack/database.ts';
import { kafkaClient } from '../../stack/kafka-client.ts';
import { randomName } from '../../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../../stack/run-command.ts';
import { sharedDatabaseUrl } from '../../stack/shared-stack.ts';
import { startConsumer } from '../../stack/start-consumer.ts';
import { until } from '../../stack/until.ts';

const SETTINGS = { consumer: { maxValueBytes: 262_144 } };

/** Waits until the consumers have read all that was acknowledged of the topic that is there. */
async function awaitEnd(side: SideTopic): Promise<void> {
  const current = side.incarnations.at(-1);
  const ends = current === undefined ? new Map<number, bigint>() : endsOf(current);
  expect(await awaitAccounted(ends, side.read, () => true)).toMatchObject({ isWell: true });
}

test('accounts for each record of a topic that was deleted and created again', async () => {
  const topic = randomName('topic');
  const kafka = kafkaClient();
  const [schema, group] = [randomName('schema'), randomName('group')];
  const side = new SideTopic(kafka, sharedDatabaseUrl(), { topic, schema, group }, 1);
  await side.start();
  const first = await startConsumer({ topics: [topic], schema, groupId: group, settings: SETTINGS });
  await until('rows', async () => ((await side.read().catch(() => undefined))?.next.size === 2 ? true : undefined));
  await side.delete();
  expect(side.isThere).toBe(false);
  const admin = kafka.admin();
  await admin.connect();
  expect(await admin.listTopics()).not.toContain(topic);
  await admin.disconnect();
  await side.createAgain();
  await expect(first.exited).resolves.toMatchObject({ code: 1 });
  const place = { env: { ...databaseEnvironment(sharedDatabaseUrl(), schema), KAFKA_GROUP_ID: group } };
  expect(await runCommand(['offsets', 'begin-again', topic, '--rename-rows'], place)).toMatchObject({ code: 0 });
  await side.findRenamed(true);
  await startConsumer({ topics: [topic], schema, groupId: group, settings: SETTINGS });
  await side.stop();
  await awaitEnd(side);
  const [before] = side.incarnations;
  expect(side.incarnations.map((incarnation) => incarnation.topic)).toEqual([
    expect.stringMatching(`^${topic}@`),
    topic,
  ]);
  await withDatabase(async ({ client }) => {
    for (const incarnation of side.incarnations) {
      await loadExpected(client, incarnation.topic, expectedOf(incarnation));
    }
    const findings = [
      ...(await compareTables(client, { schema, group })),
      await unexpectedRows(client, { schema, group }),
    ];
    expect(findings.filter(({ isWell }) => !isWell)).toEqual([]);
    await client.query(
      `DELETE FROM ${schema}.records WHERE topic = '${before?.topic}' AND "offset" = 0 AND partition = 0`,
    );
    expect((await compareTables(client, { schema, group }))[0]?.isWell).toBe(false);
  });
  await side.disconnect();
  await query(`DROP SCHEMA ${schema} CASCADE`);
});
