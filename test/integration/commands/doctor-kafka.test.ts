import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AclOperationTypes, AclResourceTypes } from 'kafkajs';
import { javaCommand, QUICK_START } from '../../../dev/stack/java-program.ts';
import { KAFKA_JARS } from '../../../dev/stack/local-kafka.ts';
import { mavenJars } from '../../../dev/stack/maven-jars.ts';
import { query } from '../stack/database.ts';
import { createTopic, kafkaClient } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { USER } from '../stack/secured-kafka.ts';
import { type ConsumerUnderTest, startConsumer } from '../stack/start-consumer.ts';
import { startStubServer } from '../stack/stub-server.ts';
import { testRun } from '../stack/test-run.ts';
import { until } from '../stack/until.ts';
import { type AuthorizedKafka, startAuthorizedKafka } from './authorized-kafka.ts';
import { examine, expectSameEnd, expectTroubles, type Trouble } from './examined.ts';
import { foreign } from './foreign-assigner.ts';

let kafka: AuthorizedKafka['kafka'];
let admin: AuthorizedKafka['admin'];
let topic: AuthorizedKafka['topic'];
let allow: AuthorizedKafka['allow'];
let sasl: AuthorizedKafka['sasl'];
let settings: AuthorizedKafka['settings'];
let acl: AuthorizedKafka['acl'];

beforeAll(async () => {
  ({ kafka, admin, topic, allow, sasl, settings, acl } = await startAuthorizedKafka());
});

afterAll(() => admin.disconnect());

test('a user with the rights on topic and group has nothing but OK, and the code is 0', async () => {
  const { code, findings, troubles } = await examine(settings());
  expect(troubles).toEqual([]);
  expect(code).toBe(0);
  expect(findings.filter(({ area }) => area === 'Kafka').map(({ check }) => check)).toEqual([
    'broker',
    'login',
    'topic',
    'group',
    'place of group',
  ]);
});

describe('the rights of docs/deploy.md', () => {
  longTest('are all that a consumer needs, with a topic for dead letters: kafka-acls.sh gives them', async () => {
    const [read, letters] = [await createTopic({ broker: kafka.broker }), await createTopic({ broker: kafka.broker })];
    const groupId = randomName('orders');
    const chosen = settings(
      {},
      { topics: [read], groupId, settings: { deadLetters: { to: 'topic', topic: letters } } as never },
    );
    expect((await examine(chosen)).code).toBe(78);
    const jars = await mavenJars(await testRun(), KAFKA_JARS, () => undefined);
    const lines = readFileSync('docs/deploy.md', 'utf8').match(/^kafka-acls\.sh .*$/gm) ?? [];
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      const args = line
        .replace('kafka.kafka.svc:9092', kafka.broker)
        .replace('User:orders-consumer', `User:${USER}`)
        .replace('--topic orders.dead-letters', `--topic ${letters}`)
        .replace(/--topic orders$/, `--topic ${read}`)
        .replace('--group orders-consumer', `--group ${groupId}`)
        .split(' ')
        .slice(1);
      const tool = javaCommand({ jars, main: 'org.apache.kafka.tools.AclCommand', args, jvm: QUICK_START });
      const { status, stdout, stderr } = spawnSync(tool.program, tool.args, { encoding: 'utf8' });
      expect({ line, status, output: status === 0 ? '' : stdout + stderr }).toEqual({ line, status: 0, output: '' });
    }
    await until('the rights', async () => ((await examine(chosen)).code === 0 ? true : undefined));
  });
});

describe('brokers', () => {
  test('one that is away is AWAY, and the code is 1', () =>
    expectTroubles(settings({}, { brokers: [kafka.at('SASL_PLAIN'), '127.0.0.1:1'] }), 1, {
      check: 'broker',
      name: '127.0.0.1:1',
      status: 'away',
      message: expect.stringContaining('ECONNREFUSED'),
      mend: expect.stringContaining('kafka.brokers'),
    }));

  test('one that speaks another protocol is AWAY, by its words', async () => {
    const server = await startStubServer(() => ({ body: '' }));
    const name = `127.0.0.1:${server.port}`;
    const message = expect.stringMatching(/HTTP|closed/i);
    await expectTroubles(settings({}, { brokers: [name] }), 1, { check: 'broker', name, status: 'away', message });
    await server.close();
  });

  test('one that refuses while another lets the consumer in is a warning, and the code is 0', () =>
    expectTroubles(settings({ ssl: false }, { brokers: [kafka.at('SASL_PLAIN'), kafka.at('SASL_TLS')] }), 0, {
      check: 'broker',
      name: kafka.at('SASL_TLS'),
      status: 'warning',
      code: 'KAFKA_TLS_MISMATCH',
      message: expect.stringContaining('goes on with them'),
    }));
});

describe('what the brokers refuse', () => {
  const refusals = (): readonly (readonly [string, ConsumerUnderTest, Trouble])[] => [
    [
      'TLS at the port of TLS alone',
      settings({ sasl: undefined }, { brokers: [kafka.at('TLS')] }),
      {
        check: 'broker',
        status: 'wrong',
        code: 'KAFKA_TLS_MISMATCH',
        mend: expect.stringContaining('kafka.ssl: true'),
      },
    ],
    [
      'another authority',
      settings({ ssl: true, tls: { ca: kafka.files.otherCa } }, { brokers: [kafka.at('SASL_TLS')] }),
      {
        check: 'broker',
        status: 'wrong',
        code: 'KAFKA_CERTIFICATE_REFUSED',
        mend: expect.stringContaining('kafka.tls.ca'),
      },
    ],
    [
      'the password',
      settings({ sasl: sasl({ password: 'canary-wrong' }), credentialsFrom: 'Secret orders, key password' }),
      {
        check: 'login',
        status: 'wrong',
        code: 'KAFKA_LOGIN_REFUSED',
        mend: expect.stringMatching(/kafka\.sasl.*; the credentials are those of Secret orders, key password$/),
      },
    ],
    [
      'no login',
      settings({ sasl: undefined }),
      { check: 'login', status: 'wrong', code: 'KAFKA_LOGIN_REFUSED', mend: expect.stringContaining('set kafka.sasl') },
    ],
  ];

  test('is WRONG, with the setting that mends it, and the code is 78', async () => {
    for (const [, chosen, trouble] of refusals()) {
      await expectTroubles(chosen, 78, trouble);
    }
  });

  longTest('ends the start of a consumer with the same code', async () => {
    await Promise.all(refusals().map(([, chosen, trouble]) => expectSameEnd(chosen, trouble)));
  });
});

describe('topics', () => {
  test('one that is missing is WRONG, and the nearest name is offered', async () => {
    const name = `${topic}s`;
    await allow(AclResourceTypes.TOPIC, name, AclOperationTypes.READ);
    await expectTroubles(settings({}, { topics: [topic, name] }), 78, {
      check: 'topic',
      name,
      status: 'wrong',
      code: null,
      message: `Kafka does not have it; did you mean ${topic}?`,
      mend: expect.stringContaining('kafka.topics (KAFKA_TOPICS)'),
    });
  });

  test('one that may not be described is WRONG, with the command, and ends a consumer with the same code', async () => {
    const name = await createTopic({ broker: kafka.broker });
    const trouble = { check: 'topic', name, status: 'wrong', code: 'TOPIC_FORBIDDEN' } as const;
    await expectSameEnd(settings({}, { topics: [topic, name] }), { ...trouble, mend: acl('Read', `--topic ${name}`) });
  });

  test('one that may be described and not read is WRONG, and ends a new group with the same code', async () => {
    const name = await createTopic({ broker: kafka.broker });
    await allow(AclResourceTypes.TOPIC, name, AclOperationTypes.DESCRIBE);
    await expectSameEnd(settings({ sessionTimeout: '6s' }, { topics: [name] }), {
      check: 'topic',
      name,
      status: 'wrong',
      code: 'TOPIC_FORBIDDEN',
      message: expect.stringContaining('not read it'),
      mend: acl('Read', `--topic ${name}`),
    });
  });

  test('one that was read before and is gone is a warning, unless the consumer is to stop then', async () => {
    const name = await createTopic({ broker: kafka.broker });
    await allow(AclResourceTypes.TOPIC, name, AclOperationTypes.READ);
    const chosen = settings({}, { topics: [topic, name], groupId: randomName('group'), schema: randomName('schema') });
    const consumer = await startConsumer(chosen);
    await consumer.waitForHealth();
    await consumer.logs.waitFor(/"msg":"assigned"/);
    const stored = `SELECT FROM ${consumer.schema}.offsets WHERE topic = $1`;
    await until('stored offsets', async () => (await query(stored, [name]))[0]);
    consumer.kill('SIGTERM');
    await consumer.exited;
    await admin.deleteTopics({ topics: [name] });
    await until('the end of the topic', async () => ((await admin.listTopics()).includes(name) ? undefined : true));
    const gone = { check: 'topic', name, message: expect.stringContaining('read before') } as const;
    await expectTroubles(chosen, 0, { ...gone, status: 'warning', mend: 'docs/runbooks/TopicGone.md' });
    const stopping = { ...chosen, settings: { ...chosen.settings, consumer: { onTopicGone: 'stop' } } };
    await expectTroubles(stopping, 78, { ...gone, status: 'wrong', code: 'TOPIC_GONE' });
  });
});

describe('topics for dead letters', () => {
  const withLetters = (letters: string) => settings({}, { settings: { deadLetters: { to: 'topic', topic: letters } } });

  test('one that is missing is WRONG', async () => {
    const name = randomName('letters');
    await allow(AclResourceTypes.TOPIC, name, AclOperationTypes.WRITE);
    await expectTroubles(withLetters(name), 78, {
      check: 'dead-letter topic',
      name,
      status: 'wrong',
      mend: expect.stringContaining('deadLetters.topic'),
    });
  });

  test('one that may not be written to is WRONG, with the command; one that may is OK', async () => {
    const name = await createTopic({ broker: kafka.broker });
    await allow(AclResourceTypes.TOPIC, name, AclOperationTypes.DESCRIBE);
    const trouble = { check: 'dead-letter topic', name, status: 'wrong', code: 'DEAD_LETTER_TOPIC_REFUSED' } as const;
    await expectTroubles(withLetters(name), 78, { ...trouble, mend: acl('Write', `--topic ${name}`) });
    await allow(AclResourceTypes.TOPIC, name, AclOperationTypes.WRITE);
    await until('the right', async () => ((await examine(withLetters(name))).code === 0 ? true : undefined));
  });
});

describe('the group', () => {
  test('one that is forbidden is WRONG, with the command, and ends a consumer with the same code', async () => {
    const groupId = randomName('secret');
    const mend = acl('Read', `--group ${groupId}`);
    const trouble = { check: 'group', name: groupId, status: 'wrong', code: 'GROUP_FORBIDDEN' } as const;
    await expectSameEnd(settings({}, { groupId }), { ...trouble, mend });
  });

  test('one that another program is in is WRONG, and ends a consumer with the same code', async () => {
    const groupId = randomName('group');
    const other = kafkaClient({ broker: kafka.broker }).consumer({ groupId, partitionAssigners: [foreign] });
    await other.connect();
    await other.subscribe({ topics: [topic] });
    const joined = new Promise((resolve) => other.on(other.events.GROUP_JOIN, resolve));
    await other.run({ eachMessage: async () => undefined });
    await joined;
    await expectSameEnd(settings({}, { groupId }), {
      check: 'group',
      name: groupId,
      status: 'wrong',
      code: 'KAFKA_CLIENT_STOPPED',
      message: expect.stringContaining('assigns partitions by foreign'),
      mend: expect.stringContaining('kafka.groupId'),
    });
    await other.disconnect();
  });

  test('members of consumers are counted; a group that writes elsewhere is WRONG, and ends a consumer so', async () => {
    const chosen = settings({}, { groupId: randomName('group'), schema: randomName('schema') });
    const consumer = await startConsumer(chosen);
    await consumer.waitForHealth();
    await consumer.logs.waitFor(/"msg":"assigned"/);
    await until('a member', async () => {
      const { findings } = await examine(chosen);
      return findings.find(({ message }) => message === 'may be joined; 1 member is in it now');
    });
    const elsewhere = { ...chosen, schema: randomName('schema') };
    await until('the claim', async () => ((await examine(elsewhere)).code === 78 ? true : undefined));
    await expectSameEnd(elsewhere, {
      check: 'place of group',
      status: 'wrong',
      code: 'GROUP_WRITES_ELSEWHERE',
      message: expect.stringContaining(`--delete --group ${chosen.groupId}`),
    });
  });
});
