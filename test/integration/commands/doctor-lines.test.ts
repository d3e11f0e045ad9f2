import { networkInterfaces } from 'node:os';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { BrokerConnections } from '../../../app/kafka/fetch/broker-connections.ts';
import { clusterApart } from '../../../app/kafka/fetch/cluster-apart.ts';
import { systemClock } from '../../../app/stream/ports/clock.ts';
import { freePort } from '../../../dev/run/free-port.ts';
import { TemplatedShop } from '../kafka/templated-shop.ts';
import { query, withDatabase } from '../stack/database.ts';
import { createTopic, kafkaClient } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { startPrivateKafka, startPrivatePostgres } from '../stack/private-servers.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { sharedBroker, sharedDatabaseUrl } from '../stack/shared-stack.ts';
import type { ConsumerUnderTest } from '../stack/start-consumer.ts';
import { createNamedTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';
import { examine, expectTroubles } from './examined.ts';

let topic: string;

beforeAll(async () => {
  topic = await createTopic();
});

const chosen = (others: Partial<ConsumerUnderTest> = {}): ConsumerUnderTest => ({ topics: [topic], ...others });

/** An address of this machine that is not a loopback one. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === 'IPv4' && !address.internal);

const joinedBy = (...hosts: readonly string[]): string => {
  const url = new URL(sharedDatabaseUrl());
  return url.href.replace(url.host, hosts.join());
};

test('the settings have a line for each warning', () =>
  expectTroubles(chosen({ settings: { schemaRegistry: { url: ['http://127.0.0.1:1'] } } }), 0, {
    check: 'settings',
    status: 'warning',
    message: expect.stringContaining('the registry is never asked'),
  }));

describe('addresses that brokers advertise', () => {
  test('are AWAY where nobody answers there, whatever the first address answers, and no login counts', async () => {
    const advertisedPort = await freePort();
    const kafka = await startPrivateKafka({ advertisedPort });
    const { code, findings } = await until('the address in the metadata', async () => {
      const found = await examine(chosen({ brokers: [kafka.broker] }));
      return found.findings.some(({ name }) => name.endsWith(`:${advertisedPort}`)) ? found : undefined;
    });
    const advertised = expect.stringMatching(new RegExp(`:${advertisedPort}$`));
    expect([code, ...findings.filter(({ area }) => area === 'Kafka')]).toMatchObject([
      1,
      { check: 'broker', name: kafka.broker, status: 'ok', message: 'answers; its cluster has 1 broker' },
      { check: 'broker', name: advertised, status: 'away', mend: expect.stringContaining('advertised.listeners') },
      { check: 'login', status: 'skipped', message: 'no broker asked for it' },
      { check: 'topic', name: topic, status: 'skipped' },
      { check: 'group', status: 'skipped' },
      { check: 'place of group', status: 'skipped', message: 'it takes the group and PostgreSQL to know' },
    ]);
  });

  longTest('are OK where they answer; a partition of a broker that ended is AWAY', async () => {
    const first = await startPrivateKafka();
    const second = await startPrivateKafka({ joins: first });
    const admin = kafkaClient({ broker: first.broker }).admin();
    await admin.connect();
    const name = randomName('single');
    const replicaAssignment = [{ partition: 0, replicas: [2] }];
    await admin.createTopics({ waitForLeaders: true, topics: [{ topic: name, replicaAssignment }] });
    await admin.disconnect();
    const place = chosen({ topics: [name], brokers: [first.broker] });
    const { findings } = await examine(place);
    expect(findings.filter(({ check }) => check === 'broker')).toMatchObject([
      { name: first.broker, status: 'ok', message: 'answers; its cluster has 2 brokers' },
      { status: 'ok', message: 'answers; it is advertised by the others' },
    ]);
    await second.stop();
    await until('the partition without a leader', async () => {
      const { troubles } = await examine(place);
      return troubles.find(({ check, status }) => check === 'topic' && status === 'away');
    }).then((found) =>
      expect(found).toMatchObject({
        message: 'no broker leads 1 of its 1 partitions (0)',
        mend: expect.stringContaining('docs/runbooks/PartitionLeaderless.md'),
      }),
    );
  });
});

describe('templates', () => {
  const withTemplate = (template: string, others: Partial<ConsumerUnderTest> = {}): ConsumerUnderTest =>
    chosen({ ...others, settings: { tables: [{ topic: template, table: '{schema}.{table}' }] } });

  test('that take no topic are a warning, and those that Kafka is away for are AWAY', async () => {
    const template = `${randomName('none')}.{schema}.{table}`;
    const subject = { check: 'template', name: template } as const;
    await expectTroubles(withTemplate(template), 0, {
      ...{ ...subject, status: 'warning' },
      message: expect.stringContaining('has no topic that it takes'),
    });
    await expectTroubles(
      withTemplate(template, { brokers: ['127.0.0.1:1'] }),
      1,
      { check: 'broker', status: 'away' },
      { ...subject, status: 'away' },
    );
  });

  test('that take many name five; a topic that cannot have its table waits, which is a warning', async () => {
    const shop = new TemplatedShop();
    const tables = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    await shop.add(...tables);
    const found = await examine(shop.settings());
    expect(found.code).toBe(0);
    const [line] = found.findings.filter(({ check }) => check === 'template');
    expect(line?.message).toMatch(/^takes 7: ([^,]+, ){4}[^,]+ and 2 more$/);
    // Both are of one table.
    const second = `${shop.source}.${shop.schema}.a`.replace(shop.source, `${shop.source}2`);
    await createNamedTopic(second);
    const entries = [{ topic: '{source}.{schema}.{table}', table: '{schema}.{table}' }];
    const { code, troubles } = await examine(shop.settings({ settings: { tables: entries } }));
    expect(code).toBe(0);
    expect(troubles.filter(({ name }) => [second, shop.topic('a')].includes(name))).toMatchObject([
      { check: 'topic', status: 'warning', message: expect.stringContaining(`${shop.schema}.a`) },
      { check: 'topic', status: 'warning', message: expect.stringContaining(`${shop.schema}.a`) },
    ]);
    await query(`DROP SCHEMA ${shop.schema} CASCADE`);
  });
});

test('a topic for dead letters that is missing is WRONG, and the nearest name is offered', () =>
  expectTroubles(chosen({ settings: { deadLetters: { to: 'topic', topic: `${topic}s` } } }), 78, {
    ...{ check: 'dead-letter topic', name: `${topic}s`, status: 'wrong' },
    message: `Kafka does not have it; did you mean ${topic}?`,
  }));

/** What kafkajs's broker does beside what the consumer asks it for. */
interface JoiningBroker {
  joinGroup(request: object): Promise<unknown>;
}

describe('a group of another type, as that of Kafka Connect', () => {
  test('is WRONG', async () => {
    const groupId = randomName('group');
    const connections = new BrokerConnections(clusterApart(kafkaClient(), { onAnswer: () => undefined }), systemClock);
    const broker = await connections.apart(await connections.coordinator(groupId));
    await broker.connect();
    await (broker as typeof broker & JoiningBroker).joinGroup({
      ...{ groupId, sessionTimeout: 30_000, rebalanceTimeout: 30_000, memberId: '', protocolType: 'connect' },
      groupProtocols: [{ name: 'default', metadata: Buffer.alloc(0) }],
    });
    await expectTroubles(chosen({ groupId }), 78, {
      ...{ check: 'group', name: groupId, status: 'wrong', code: 'KAFKA_CLIENT_STOPPED' },
      message: expect.stringContaining('is of the type connect'),
    });
    const { troubles } = await examine(chosen({ groupId }));
    expect(troubles.map(({ check, status }) => [check, status])).toContainEqual(['place of group', 'skipped']);
    await broker.disconnect();
    connections.close();
  });
});

describe('hosts of PostgreSQL', () => {
  const { host } = new URL(sharedDatabaseUrl());

  test('that take no writes are OK beside one that does, and WRONG alone', async () => {
    const standby = await startPrivatePostgres({ files: { 'standby.signal': '' } });
    const { host: other } = new URL(standby.url);
    const { code, findings } = await examine(chosen({ databaseUrl: joinedBy(other, host) }));
    expect(code).toBe(0);
    expect(findings.filter(({ check }) => check === 'host')).toMatchObject([
      { name: other, status: 'ok', message: 'answers, and takes no writes now: another host does' },
      { name: host, status: 'ok', message: 'lets the consumer in as postgres' },
    ]);
    await standby.stop();
  });

  test('that refuse are a warning beside one that lets the consumer in, and AWAY beside one that is away', async () => {
    const files = { 'pg_hba.conf': 'host all all 127.0.0.1/32 reject\n' };
    const refusing = await startPrivatePostgres({ files });
    const { host: other } = new URL(refusing.url);
    const subject = { check: 'host', name: other } as const;
    await expectTroubles(chosen({ databaseUrl: joinedBy(other, host) }), 0, {
      ...{ ...subject, status: 'warning' },
      message: expect.stringMatching(/SQLSTATE 28000.*Another host lets the consumer in$/),
    });
    await expectTroubles(
      chosen({ databaseUrl: joinedBy(other, '127.0.0.1:1') }),
      1,
      { ...subject, status: 'away', message: expect.stringContaining('Another host is away, and may let') },
      { check: 'host', name: '127.0.0.1:1', status: 'away' },
    );
    await refusing.stop();
  });

  (outside === undefined ? test.skip : test)('that ask for a password that others can read are a warning', async () => {
    const files = { 'pg_hba.conf': 'host all all all password\n' };
    const asking = await startPrivatePostgres({ files, settings: { listen_addresses: '*' } });
    const { port } = new URL(asking.url);
    const databaseUrl = asking.urlWithPassword.replace('@127.0.0.1:', `@${outside?.address}:`);
    await expectTroubles(chosen({ databaseUrl }), 0, {
      ...{ check: 'host', name: `${outside?.address}:${port}`, status: 'warning' },
      message: expect.stringContaining('scram-sha-256 in the pg_hba.conf'),
    });
    await asking.stop();
  });
});

describe('the tables in PostgreSQL', () => {
  test('are made by the consumer where there are none, which is OK', async () => {
    const { findings } = await examine(chosen());
    expect(findings.find(({ check }) => check === 'own tables')).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('makes or upgrades them in the schema'),
    });
  });

  test('are AWAY as long as another session locks what they are compared by', async () => {
    const schema = randomName('schema');
    await runCommand(['migrate'], { env: databaseEnvironment(sharedDatabaseUrl(), schema) });
    await withDatabase(async ({ client }) => {
      await client.query(`BEGIN; LOCK TABLE ${schema}.schema_migrations IN ACCESS EXCLUSIVE MODE`);
      const { code, troubles } = await examine(chosen({ schema, brokers: [sharedBroker()] }));
      await client.query('ROLLBACK');
      expect(code).toBe(1);
      expect(troubles.filter(({ status }) => status !== 'skipped')).toMatchObject([
        { check: 'tables', status: 'away', message: expect.stringContaining('timeout') },
      ]);
    });
    await query(`DROP SCHEMA ${schema} CASCADE`);
  });
});
