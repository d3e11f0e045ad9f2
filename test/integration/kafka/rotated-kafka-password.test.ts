import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { KAFKA_JARS } from '../../../dev/stack/local-kafka.ts';
import { mavenJars } from '../../../dev/stack/maven-jars.ts';
import { mountSecret } from '../../app/configuration/mounted-secret.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { runJava } from '../stack/other-producers.ts';
import { type SecuredKafka, startSecuredKafka, USER } from '../stack/secured-kafka.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { testRun } from '../stack/test-run.ts';

const CANARY = 'hunter2-rotated';

/** Gives the user another password for SCRAM, by Kafka's own tool. */
async function setPassword(broker: string, password: string): Promise<void> {
  const jars = await mavenJars(await testRun(), KAFKA_JARS, () => undefined);
  await runJava(jars, 'kafka.admin.ConfigCommand', [
    ...[
      '--bootstrap-server',
      broker,
      '--alter',
      '--entity-type',
      'users',
      '--entity-name',
      USER,
      '--add-config',
      `SCRAM-SHA-256=[password=${password}]`,
    ],
  ]);
}

let kafka: SecuredKafka;
let tree: string;
let topic: string;
let consumer: StartedConsumer;

beforeAll(async () => {
  kafka = await startSecuredKafka();
}, 120_000);

const produceMore = () => produce(topic, [{ value: '1' }, { value: '2' }, { value: '3' }], { broker: kafka.broker });

const written = (records: number) => awaitEachOnce({ schema: consumer.schema, topic, records, timeout: 90_000 });

/** A consumer that works, then another password at the broker, whose restart ends all connections. */
async function rotateAtBroker(): Promise<void> {
  await setPassword(kafka.broker, kafka.password);
  tree = mkdtempSync(join((await testRun()).path, 'config-tree-'));
  mountSecret(tree, { 'kafka.sasl.password': kafka.password });
  topic = await createTopic({ broker: kafka.broker });
  consumer = await startConsumer({
    topics: [topic],
    brokers: [kafka.at('SASL_PLAIN')],
    settings: { kafka: { sasl: { mechanism: 'scram-sha-256', username: USER } } },
    env: { CONFIG_TREE: tree },
  });
  await produceMore();
  await written(3);
  await setPassword(kafka.broker, CANARY);
  await kafka.stop();
  await kafka.start();
  await produceMore();
}

function expectNoSecret(): void {
  for (const secret of [CANARY, kafka.password]) {
    expect(consumer.logs.all.join('\n')).not.toContain(secret);
  }
}

test('a consumer whose password at Kafka is rotated goes on once the file has it: each record is written once', async () => {
  await rotateAtBroker();
  await consumer.logs.waitFor(/"attempts":5,/);
  mountSecret(tree, { 'kafka.sasl.password': CANARY });
  await written(6);
  await consumer.waitForHealth();
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
  expectNoSecret();
}, 180_000);

longTest(
  'it ends after three minutes when the newest is refused all the time, and nothing is lost',
  async () => {
    await rotateAtBroker();
    await consumer.logs.waitFor(/"attempts":1,/);
    const beganAt = performance.now();
    mountSecret(tree, { 'kafka.sasl.password': `${CANARY}-wrong` });
    expect(await consumer.exited).toMatchObject({ code: 1 });
    expect((performance.now() - beganAt) / 1_000).toBeGreaterThan(150);
    await consumer.logs.waitFor(/"KAFKA_LOGIN_REFUSED".*Nothing was skipped/);
    await written(3);
    expectNoSecret();
  },
  400_000,
);
