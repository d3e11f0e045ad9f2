import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { type CountingProxy, countConnections } from './stack/counting-proxy.ts';
import { createTopic, produce } from './stack/kafka-client.ts';
import { longTest } from './stack/long-test.ts';
import { type SecuredKafka, startSecuredKafka, USER } from './stack/secured-kafka.ts';
import { type ConsumerUnderTest, type StartedConsumer, startConsumer } from './stack/start-consumer.ts';
import { awaitEachOnce } from './stack/stored-rows.ts';
import { awaitRoot } from './stack/told-health.ts';

let kafka: SecuredKafka;
let topic: string;

beforeAll(async () => {
  // Connections log in again every two seconds, so that a password that was taken away shows without a restart.
  kafka = await startSecuredKafka({
    properties: { 'listener.name.sasl_tls.scram-sha-512.connections.max.reauth.ms': 12_000 },
  });
  topic = await createTopic(kafka);
  await produce(topic, [{ value: '1' }], kafka);
});

const portOf = (broker: string): string => broker.split(':')[1] ?? '';

type KafkaSettings = NonNullable<NonNullable<ConsumerUnderTest['settings']>[string]>;

async function reading(brokers: readonly string[], settings: KafkaSettings): Promise<StartedConsumer> {
  const consumer = await startConsumer({ topics: [topic], brokers, settings: { kafka: settings } });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  return consumer;
}

const fatalLines = ({ logs }: StartedConsumer) =>
  logs.all.filter((line) => line.includes('"fatal"')).map((line) => JSON.parse(line) as { code: string; msg: string });

test('a broker under another name than its certificate is read by kafka.tls.serverName, and with a warning by no name', async () => {
  const brokers = [`127.0.0.1:${portOf(kafka.at('TLS'))}`];
  const { ca } = kafka.files;
  await reading(brokers, { ssl: true, tls: { ca, serverName: 'localhost' } });
  const unverified = await reading(brokers, { ssl: true, tls: { ca, verifyHostName: false } });
  expect(await unverified.logs.waitFor(/verifyHostName is false/)).toContain('"warn"');
});

test('the PEM itself is taken, and plain without TLS is read with a warning', async () => {
  const { ca, clientCertificate, clientKey } = kafka.files;
  const [authority, certificate, privateKey] = await Promise.all(
    [ca, clientCertificate, clientKey].map((file) => readFile(file, 'utf8')),
  );
  await reading([kafka.at('MUTUAL')], { ssl: true, tls: { ca: authority, certificate, privateKey } });
  const sasl = { mechanism: 'plain', username: USER, password: kafka.password };
  const clear = await reading([kafka.at('SASL_PLAIN')], { sasl });
  expect(await clear.logs.waitFor(/in clear text/)).toContain('"warn"');
});

test('one broker that refuses while another accepts is an outage', async () => {
  // The second address is asked for a client certificate, which the consumer has not.
  const refusing = await countConnections(Number(portOf(kafka.at('MUTUAL'))));
  const brokers = [`localhost:${refusing.port}`, kafka.at('TLS')];
  const consumer = await reading(brokers, { ssl: true, tls: { ca: kafka.files.ca } });
  await consumer.logs.waitFor(/refuses the connection: .*bad certificate/);
  // The health check asks the first address alone, and goes on to be refused.
  await awaitRoot(consumer, 'six refusals', () => attemptsTold(consumer) >= 6);
  expect(fatalLines(consumer)).toEqual([]);
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
  closeAll([refusing]);
});

/** How often the last broker that refused has done so, in a row. */
function attemptsTold({ logs }: StartedConsumer): number {
  const last = logs.all.findLast((line) => line.includes(' refuses the connection: '));
  return last === undefined ? 0 : (JSON.parse(last) as { attempts: number }).attempts;
}

const closeAll = (proxies: readonly CountingProxy[]): void => {
  for (const proxy of proxies) proxy.close();
};

longTest(
  'a login that worked and is refused later is told, with health that is not UP, and may rotate before it is the end',
  async () => {
    const sasl = { mechanism: 'scram-sha-512', username: USER, password: kafka.password };
    const consumer = await reading([kafka.at('SASL_TLS')], { ssl: true, tls: { ca: kafka.files.ca }, sasl });
    await kafka.forgetScram512();
    await awaitRoot(consumer, 'five refusals', () => attemptsTold(consumer) >= 5);
    await consumer.logs.waitFor(/invalid credentials/);
    await awaitRoot(consumer, 'kafka DOWN', (root) => root.components['kafka']?.status === 'DOWN');
    expect(fatalLines(consumer)).toEqual([]);
    consumer.kill('SIGTERM');
    expect(await consumer.exited).toMatchObject({ code: 0 });
  },
);
