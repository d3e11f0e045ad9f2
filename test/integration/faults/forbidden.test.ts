import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, type Admin, ResourcePatternTypes } from 'kafkajs';
import type { LocalKafka } from '../../../dev/stack/local-kafka.ts';
import { TemplatedShop } from '../kafka/templated-shop.ts';
import { createTopic, kafkaClient, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { startPrivateKafka } from '../stack/private-servers.ts';
import { randomName } from '../stack/random-name.ts';
import { runCommand } from '../stack/run-command.ts';
import { type StartedConsumer, startConsumer, writeConfiguration } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { awaitRoot, root, values } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

let kafka: LocalKafka;
let admin: Admin;
let at: { readonly broker: string };

/** All that no ACL is about is allowed, so one that denies is enough, without a login. */
beforeAll(async () => {
  kafka = await startPrivateKafka({
    properties: {
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'allow.everyone.if.no.acl.found': true,
    },
  });
  at = { broker: kafka.broker };
  admin = kafkaClient(at).admin();
  await admin.connect();
});

afterAll(() => admin.disconnect());

const ACL = { resourcePatternType: ResourcePatternTypes.LITERAL, principal: 'User:ANONYMOUS', host: '*' } as const;
const TOPIC = AclResourceTypes.TOPIC;
const GROUP = AclResourceTypes.GROUP;
const { READ, DESCRIBE, ALL } = AclOperationTypes;
const { ALLOW, DENY } = AclPermissionTypes;

type Rule = readonly [operation: AclOperationTypes, permissionType: AclPermissionTypes];

const forbid = (resourceType: AclResourceTypes, resourceName: string, rules: readonly Rule[]) =>
  admin.createAcls({
    acl: rules.map(([operation, permissionType]) => ({
      ...{ ...ACL, resourceType, resourceName, operation, permissionType },
    })),
  });

const allow = (resourceType: AclResourceTypes, resourceName: string) =>
  admin.deleteAcls({
    filters: [
      {
        ...{ resourceType, resourceName, resourcePatternType: ResourcePatternTypes.LITERAL },
        ...{ operation: AclOperationTypes.ANY, permissionType: AclPermissionTypes.ANY },
      },
    ],
  });

const fatalLines = ({ logs }: StartedConsumer) => logs.all.filter((line) => line.includes('"fatal"'));

/** The consumer ends with exit code 1, and its only fatal line has this code and says all of that. */
async function expectRefused(consumer: StartedConsumer, code: string, ...words: readonly string[]): Promise<void> {
  expect(await consumer.exited).toMatchObject({ code: 1 });
  const lines = fatalLines(consumer).map((line) => JSON.parse(line) as { readonly code: string; readonly msg: string });
  expect(lines.map((line) => line.code)).toEqual([code]);
  for (const word of words) expect(lines[0]?.msg).toContain(word);
}

/** Two topics with a record each. */
async function twoTopics(): Promise<readonly [string, string]> {
  const [forbidden, other] = [await createTopic(at), await createTopic(at)];
  for (const topic of [forbidden, other]) await produce(topic, [{ value: '1' }], at);
  return [forbidden, other];
}

const written = async ({ schema }: StartedConsumer, topic: string, records: number) =>
  awaitEachOnce({ schema, topic, records });

longTest(
  'a topic that may not be described is named and refused at the start, whether it was read before or not',
  async () => {
    const topics = await twoTopics();
    const [forbidden, other] = topics;
    const read = await startConsumer({ topics, brokers: [at.broker] });
    await written(read, forbidden, 1);
    read.kill('SIGTERM');
    expect(await read.exited).toMatchObject({ code: 0 });
    await forbid(TOPIC, forbidden, [[ALL, DENY]]);
    const { groupId, schema } = read;
    for (const again of [{ groupId, schema }, {}]) {
      const refused = await startConsumer({ topics, brokers: [at.broker], ...again });
      await expectRefused(refused, 'TOPIC_FORBIDDEN', `forbids ${forbidden} `, `--operation Read --topic ${forbidden}`);
      expect(fatalLines(refused)[0]).not.toContain(other);
    }
    await allow(TOPIC, forbidden);
    // The controller answers before the broker knows.
    await until('leave to write', () => produce(forbidden, [{ value: '2' }], at));
    const allowed = await startConsumer({ topics, brokers: [at.broker], groupId, schema });
    await written(allowed, forbidden, 2);
  },
);

longTest('one that may not be described any more ends a running consumer, which names it', async () => {
  const topics = await twoTopics();
  const [forbidden] = topics;
  const consumer = await startConsumer({ topics, brokers: [at.broker] });
  await written(consumer, forbidden, 1);
  await forbid(TOPIC, forbidden, [
    [DESCRIBE, DENY],
    [READ, ALLOW],
  ]);
  await expectRefused(consumer, 'TOPIC_FORBIDDEN', `forbids ${forbidden} `);
});

test('one that may not be read any more stops its partitions alone, and goes on when it may, without a record too', async () => {
  const topics = await twoTopics();
  const [forbidden, other] = topics;
  const consumer = await startConsumer({ topics, brokers: [at.broker] });
  await written(consumer, forbidden, 1);
  await forbid(TOPIC, forbidden, [
    [READ, DENY],
    [DESCRIBE, ALLOW],
    [AclOperationTypes.WRITE, ALLOW],
  ]);
  const line = await consumer.logs.waitFor(/"code":"TOPIC_FORBIDDEN"/, 60_000);
  expect(JSON.parse(line)).toMatchObject({ level: 'error', topic: forbidden, partition: 0, offset: '1' });
  expect(line).toContain(`--operation Read --topic ${forbidden}`);
  const unreadable = { topic: forbidden, partition: 0, offset: '1', code: 'TOPIC_FORBIDDEN' };
  await awaitRoot(consumer, 'the forbidden partition', ({ components }) => {
    const [told] = (components['consumer']?.details?.['unreadable'] ?? []) as Record<string, unknown>[];
    return told !== undefined && Object.entries(unreadable).every(([key, value]) => told[key] === value);
  });
  await produce(other, [{ value: '2' }], at);
  await written(consumer, other, 2);
  expect(await values(consumer, { name: 'consumer_unreadable_partitions' }, forbidden)).toEqual([1]);
  await allow(TOPIC, forbidden);
  await consumer.logs.waitFor(/"msg":"the batch that could not be read was read"/, 60_000);
  await until('no forbidden partition', async () => {
    const [value] = await values(consumer, { name: 'consumer_unreadable_partitions' }, forbidden);
    return value === 0 ? true : undefined;
  });
  await produce(forbidden, [{ value: '2' }], at);
  await written(consumer, forbidden, 2);
});

longTest('one that may not be read refuses a new group, whose first offset would be committed there', async () => {
  const [forbidden] = await twoTopics();
  await forbid(TOPIC, forbidden, [
    [READ, DENY],
    [DESCRIBE, ALLOW],
  ]);
  const settings = { kafka: { sessionTimeout: '6s' } };
  const consumer = await startConsumer({ topics: [forbidden], brokers: [at.broker], settings });
  await expectRefused(consumer, 'TOPIC_FORBIDDEN', `forbids ${forbidden} `, `--operation Read --topic ${forbidden}`);
});

longTest('a group that is forbidden is named, at the start and at run time', async () => {
  const topics = await twoTopics();
  const groupId = randomName('group');
  await forbid(GROUP, groupId, [[READ, DENY]]);
  const words = [`the group ${groupId} `, `--operation Read --group ${groupId}`];
  await expectRefused(await startConsumer({ topics, brokers: [at.broker], groupId }), 'GROUP_FORBIDDEN', ...words);
  await allow(GROUP, groupId);
  const consumer = await startConsumer({ topics, brokers: [at.broker], groupId });
  await written(consumer, topics[0], 1);
  await forbid(GROUP, groupId, [[READ, DENY]]);
  await expectRefused(consumer, 'GROUP_FORBIDDEN', ...words);
});

longTest("a group that is forbidden is named by the brokers' protocol too, at run time and at the start", async () => {
  const [topic] = await twoTopics();
  const place = { topics: [topic], brokers: [at.broker], groupId: randomName('group'), schema: randomName('schema') };
  // A new group would wait for the claim of others first.
  const classic = await startConsumer(place);
  await written(classic, topic, 1);
  classic.kill('SIGTERM');
  expect(await classic.exited).toMatchObject({ code: 0 });
  const start = () => startConsumer({ ...place, settings: { kafka: { groupProtocol: 'consumer' } } });
  const consumer = await start();
  await produce(topic, [{ value: '2' }], at);
  await written(consumer, topic, 2);
  await forbid(GROUP, place.groupId, [[READ, DENY]]);
  await expectRefused(consumer, 'GROUP_FORBIDDEN', `the group ${place.groupId} `);
  await expectRefused(await start(), 'GROUP_FORBIDDEN', `the group ${place.groupId} `);
});

test('one of a template that may not be described at a start waits and is named, and is read when it may be', async () => {
  const shop = new TemplatedShop(at);
  await shop.add('items', 'orders');
  await Promise.all([shop.produce('items', 1), shop.produce('orders', 1)]);
  const brokers = [at.broker];
  const first = await shop.start({ brokers });
  await Promise.all([shop.awaitIds('items', 1), shop.awaitIds('orders', 1)]);
  first.kill('SIGTERM');
  expect(await first.exited).toMatchObject({ code: 0 });
  await Promise.all([shop.produce('items', 2), shop.produce('orders', 2)]);
  const topic = shop.topic('items');
  await forbid(TOPIC, topic, [[ALL, DENY]]);
  await until('the rule that denies', async () => ((await admin.listTopics()).includes(topic) ? undefined : true));

  const consumer = await shop.start({ brokers, groupId: first.groupId, schema: first.schema });
  await shop.awaitIds('orders', 1, 2);
  const line = await consumer.logs.waitFor(/waits alone/);
  expect(line).toContain(`--operation Read --topic ${topic}`);
  const waiting = [expect.objectContaining({ topic, code: 'TOPIC_FORBIDDEN' })];
  const { status, details } = (await root(consumer)).components['consumer'] ?? {};
  expect([status, details]).toEqual(['UP', expect.objectContaining({ waitingTopics: waiting, lag: 0 })]);
  expect(await values(consumer, { name: 'consumer_topics_waiting' }, topic)).toEqual([1]);
  await allow(TOPIC, topic);
  await shop.awaitIds('items', 1, 2);
  await until('no topic to wait', async () => {
    const shown = await values(consumer, { name: 'consumer_topics_waiting' }, topic);
    return shown.length === 0 ? true : undefined;
  });
  consumer.kill('SIGTERM');
  await consumer.exited;

  const both = [topic, shop.topic('orders')];
  await Promise.all(both.map((each) => forbid(TOPIC, each, [[ALL, DENY]])));
  await until('both rules', async () =>
    (await admin.listTopics()).some((each) => both.includes(each)) ? undefined : true,
  );
  const last = await shop.start({ brokers, groupId: first.groupId, schema: first.schema });
  for (const each of both) {
    await until(`${each} to wait`, async () => {
      const shown = await values(last, { name: 'consumer_topics_waiting' }, each);
      return shown.length === 1 ? true : undefined;
    });
  }
  await Promise.all(both.map((each) => allow(TOPIC, each)));
});

test('one of a template that a new group may not read waits, and the others are read', async () => {
  const shop = new TemplatedShop(at);
  await shop.add('items', 'orders');
  await Promise.all([shop.produce('items', 1), shop.produce('orders', 1)]);
  const topic = shop.topic('items');
  await forbid(TOPIC, topic, [
    [READ, DENY],
    [DESCRIBE, ALLOW],
    [AclOperationTypes.WRITE, ALLOW],
  ]);
  const consumer = await shop.start({ brokers: [at.broker] });
  await shop.awaitIds('orders', 1);
  expect(await consumer.logs.waitFor(/waits alone/)).toContain(`--operation Read --topic ${topic}`);
  await allow(TOPIC, topic);
  await shop.awaitIds('items', 1);
  expect(consumer.logs.all.filter((line) => line.includes('TOPIC_FORBIDDEN'))).toHaveLength(1);
});

test('one that may not be read keeps no other topic of a template from tables ddl and dry-run', async () => {
  const shop = new TemplatedShop(at);
  await shop.add('items', 'orders');
  await Promise.all([shop.produce('items', 1), shop.produce('orders', 1, 2)]);
  const forbidden = shop.topic('items');
  await forbid(TOPIC, forbidden, [
    [READ, DENY],
    [DESCRIBE, ALLOW],
  ]);
  const chosen = shop.settings({ brokers: [at.broker], settings: { tables: [shop.rule()] } });
  const { configFile } = await writeConfiguration(chosen);
  const run = (command: string) => runCommand(['tables', command, '--config', configFile]);
  const ddl = await until('the rule that denies', async () => {
    const answer = await run('ddl');
    return answer.code === 0 ? undefined : answer;
  });
  expect(ddl).toMatchObject({ code: 1, stderr: '' });
  expect(ddl.stdout).toMatch(
    new RegExp(`-- REVIEW: nothing was read of ${forbidden}: Kafka forbids it: .*--operation Read`),
  );
  expect(ddl.stdout).toContain(`2 records of ${shop.topic('orders')}: offsets`);
  const dryRun = await run('dry-run');
  expect(dryRun).toMatchObject({ code: 78, stderr: '' });
  expect(dryRun.stdout).toContain('2 records: 2 would be stored, 0 would be dead letters');
  expect(dryRun.stdout).toContain(`${forbidden} may not be read (TOPIC_FORBIDDEN)`);
});
