import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { freePort } from '../../../dev/run/free-port.ts';
import type { Listener } from '../../../dev/stack/local-kafka.ts';
import { type CountingProxy, countConnections } from '../stack/counting-proxy.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { type SecuredKafka, startSecuredKafka, USER } from '../stack/secured-kafka.ts';
import { type ConsumerUnderTest, type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { awaitRoot, type Root, root } from '../stack/told-health.ts';

let kafka: SecuredKafka;
let topic: string;
let bootstraps: Readonly<Record<keyof typeof LED_ASTRAY, Listener>>;

/** Bootstrap listeners that lead to an address which refuses what they accept: its protocol, on another port. */
const LED_ASTRAY = {
  NAME: { protocol: 'SSL', refusing: undefined },
  CLEAR: { protocol: 'SSL', refusing: 'PLAINTEXT' },
  TLS_ALONE: { protocol: 'PLAINTEXT', refusing: 'SSL' },
  LOGIN: { protocol: 'SSL', refusing: 'SASL_SSL' },
  PASSWORD: { protocol: 'SASL_SSL', refusing: 'SASL_SSL' },
} as const satisfies Record<string, { protocol: Listener['protocol']; refusing: Listener['protocol'] | undefined }>;

/** PLAIN at a listener, with a user's password. */
const plainLogin = (listener: string, password: string) => ({
  [`listener.name.${listener}.sasl.enabled.mechanisms`]: 'PLAIN',
  [`listener.name.${listener}.plain.sasl.jaas.config`]: `org.apache.kafka.common.security.plain.PlainLoginModule required user_${USER}="${password}";`,
});

async function ledAstray(): Promise<{ readonly [name: string]: Listener }> {
  const pairs = Object.entries(LED_ASTRAY).map(async ([name, { protocol, refusing }]) => {
    const [port, other] = [await freePort(), await freePort()];
    const bootstrap = { protocol, port };
    return refusing === undefined
      ? { [name]: { ...bootstrap, advertised: `127.0.0.1:${port}` } }
      : {
          [name]: { ...bootstrap, advertised: `localhost:${other}` },
          [`${name}_REFUSING`]: { protocol: refusing, port: other },
        };
  });
  return Object.assign({}, ...(await Promise.all(pairs)));
}

beforeAll(async () => {
  const listeners = await ledAstray();
  bootstraps = listeners as typeof bootstraps;
  // Connections log in again every two seconds, so that a password that was taken away shows without a restart.
  kafka = await startSecuredKafka({
    listeners,
    properties: {
      'listener.name.sasl_tls.scram-sha-512.connections.max.reauth.ms': 12_000,
      ...plainLogin('login_refusing', 'another'),
      ...plainLogin('password', 'right'),
      ...plainLogin('password_refusing', 'another'),
    },
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
  await awaitRoot(consumer, 'kafka UP', isKafkaUp);
  expect(fatalLines(consumer)).toEqual([]);
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
  closeAll([refusing]);
});

const isKafkaUp = ({ components }: Root): boolean => components['kafka']?.status === 'UP';

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

/** What each listener that leads astray is read with, and the end: its code, and words that tell what to check. */
const ASTRAY = [
  ['NAME', 'KAFKA_CERTIFICATE_REFUSED', "127.0.0.1 is not in the cert's list", 'advertise'],
  ['CLEAR', 'KAFKA_TLS_MISMATCH', 'speaks without TLS at this port', 'kafka.ssl: false'],
  ['TLS_ALONE', 'KAFKA_TLS_MISMATCH', 'speaks TLS at this port', 'kafka.ssl: true'],
  ['LOGIN', 'KAFKA_LOGIN_REFUSED', 'asks for a login at this port', 'set kafka.sasl'],
  ['PASSWORD', 'KAFKA_LOGIN_REFUSED', 'Invalid username or password', 'check what kafka.sasl names'],
] as const;

async function endOf(name: keyof typeof LED_ASTRAY) {
  const { protocol, port } = bootstraps[name];
  const sasl = { mechanism: 'plain', username: USER, password: 'right' };
  const startedAt = Date.now();
  const consumer = await startConsumer({
    topics: [topic],
    brokers: [`localhost:${port}`],
    settings: {
      kafka: {
        ...(protocol === 'PLAINTEXT' ? {} : { ssl: true, tls: { ca: kafka.files.ca } }),
        ...(protocol === 'SASL_SSL' ? { sasl } : {}),
      },
    },
  });
  const answers: Root[] = [];
  const isOver = consumer.exited.then(() => true);
  const wait = () => new Promise<false>((resolve) => setTimeout(resolve, 500, false));
  while (!(await Promise.race([isOver, wait()])) && Date.now() - startedAt < 50_000) {
    const answer = await root(consumer).catch(() => undefined);
    answers.push(...(answer ? [answer] : []));
  }
  const afterMs = Date.now() - startedAt;
  consumer.kill('SIGTERM');
  const told = answers.map(({ components }) => components['kafka']);
  return { exit: (await consumer.exited).code, afterMs, told, fatal: fatalLines(consumer) };
}

test('a bootstrap address that accepts, where all that is advertised refuses, is the end within 45 s and never UP', async () => {
  const ends = await Promise.all(ASTRAY.map(([name]) => endOf(name)));
  for (const [at, [name, code, words, remedy]] of ASTRAY.entries()) {
    const { exit, afterMs, told, fatal } = ends[at] as Awaited<ReturnType<typeof endOf>>;
    expect({ name, exit, fatal }).toEqual({ name, exit: 1, fatal: [expect.objectContaining({ code })] });
    expect(afterMs).toBeLessThan(45_000);
    for (const word of [words, remedy]) expect(fatal[0]?.msg).toContain(word);
    expect(JSON.stringify(told)).toContain(words);
    expect(told.map((health) => health?.status)).toContain('DOWN');
    expect(told.map((health) => health?.status)).not.toContain('UP');
  }
});

longTest(
  'one of two advertised brokers that refuses is an outage, and the health check asks the other one',
  async () => {
    const settings = { ssl: true, tls: { ca: kafka.files.ca } };
    // The first broker has the group's coordinator from then on.
    await reading([kafka.at('TLS')], settings);
    // Its certificate is by an authority of its own.
    const second = await startSecuredKafka({ joins: kafka });
    // As behind a load balancer, the bootstrap address is not advertised.
    const bootstrap = await countConnections(Number(portOf(kafka.at('TLS'))));
    const consumer = await reading([`localhost:${bootstrap.port}`], settings);
    await awaitRoot(consumer, 'kafka UP', isKafkaUp);
    const answers: Root[] = [];
    await awaitRoot(consumer, 'five refusals', (health) => {
      answers.push(health);
      return attemptsTold(consumer) >= 5;
    });
    expect(answers.filter((health) => !isKafkaUp(health))).toEqual([]);
    expect(fatalLines(consumer)).toEqual([]);
    consumer.kill('SIGTERM');
    expect(await consumer.exited).toMatchObject({ code: 0 });
    closeAll([bootstrap]);
    await second.stop();
  },
);
