import { mkdtemp, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { membership, TELLS_JOINS } from '../stack/group-membership.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { type OauthKafka, startOauthKafka } from '../stack/oauth-kafka.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { testRun } from '../stack/test-run.ts';
import { awaitRoot } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

let kafka: OauthKafka;
beforeAll(async () => {
  kafka = await startOauthKafka();
});

/** A topic with one record, and a consumer of it that logs in by token. */
async function withOauth(oauth: Readonly<Record<string, unknown>> = {}) {
  const { broker, secured, tokens } = kafka;
  const topic = await createTopic({ broker });
  await produce(topic, [{ value: '{}' }], { broker });
  const { endpoint: tokenEndpoint, clientId, clientSecret } = tokens;
  const client = 'tokenFile' in oauth ? {} : { tokenEndpoint, clientId, clientSecret };
  const sasl = { mechanism: 'oauthbearer', oauth: { ...client, ...oauth } };
  const settings = { ...TELLS_JOINS, kafka: { sasl } };
  const consumer = await startConsumer({ topics: [topic], brokers: [secured], settings });
  return { topic, consumer };
}

/** Neither the client's secret nor a token is in the log, or in an answer. */
async function expectNoSecret(consumer: StartedConsumer): Promise<void> {
  const { healthPath, infoPath, prometheusPath } = consumer.endpoint;
  const answers = await Promise.all(
    [healthPath, infoPath, prometheusPath].map(async (path) => (await consumer.get(path)).text()),
  );
  const output = [...consumer.logs.all, ...answers].join('\n');
  const { clientSecret, made } = kafka.tokens;
  const secrets = [
    clientSecret,
    encodeURIComponent(clientSecret),
    ...made,
    ...made.map((token) => token.split('.')[2] ?? token),
  ];
  expect(secrets.filter((secret) => output.includes(secret))).toEqual([]);
  expect(output).not.toContain('Basic ');
}

const kafkaDetails = async (consumer: StartedConsumer, words: RegExp): Promise<void> => {
  const health = await awaitRoot(consumer, `Kafka's component to say ${words}`, ({ components }) =>
    words.test(JSON.stringify(components['kafka']?.details)),
  );
  expect(health.components['kafka']?.status).toBe('DOWN');
};

/** The process ends as it does for a wrong password, before the first liveness probe. */
async function expectRefused(consumer: StartedConsumer, words: RegExp): Promise<void> {
  expect(await consumer.exited).toMatchObject({ code: 1 });
  const fatal = consumer.logs.all.filter((line) => line.includes('"level":"fatal"'));
  expect(fatal).toEqual([expect.stringContaining('"code":"KAFKA_LOGIN_REFUSED"')]);
  // Quotes of the broker's words are escaped in JSON.
  expect(JSON.parse(fatal[0] ?? '{}').msg).toMatch(words);
  expect(consumer.logs.all.filter((line) => line.includes('refuses the connection: '))).toHaveLength(5);
}

test('a token of the token endpoint is the login: one is asked for, and no secret is told', async () => {
  const before = kafka.tokens.asked.length;
  const { topic, consumer } = await withOauth({ scope: 'read write', extensions: { logicalCluster: 'lkc-1' } });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  await awaitRoot(consumer, 'Kafka to be UP', ({ components }) => components['kafka']?.status === 'UP');
  expect(kafka.tokens.asked.slice(before).map(({ form }) => form)).toEqual([
    { grant_type: 'client_credentials', scope: 'read write' },
  ]);
  await expectNoSecret(consumer);
});

test('sessions end with their tokens: it logs in again on its connections, and reads on', async () => {
  const { broker, tokens } = kafka;
  tokens.claims = { lives: 6 };
  try {
    const { topic, consumer } = await withOauth();
    await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
    const asked = tokens.asked.length;
    await until('two more tokens', async () => (tokens.asked.length >= asked + 2 ? true : undefined));
    await produce(topic, [{ value: '{}' }], { broker });
    await awaitEachOnce({ schema: consumer.schema, topic, records: 2 });
    expect(await membership(consumer, { broker })).toMatchObject({ joins: 1 });
    const broken = /Closed connection|ECONNRESET|ILLEGAL_SASL_STATE|refuses/;
    expect(consumer.logs.all.filter((line) => broken.test(line))).toEqual([]);
    await expectNoSecret(consumer);
  } finally {
    tokens.claims = {};
  }
});

test.each([
  ['an expired token', { lives: -60 }, /refuses the token of oauthbearer: .*invalid_token.*exp \d{4}-/],
  [
    'a token for another audience',
    { aud: 'payments' },
    /refuses the token of oauthbearer: .*invalid_token.*aud payments/,
  ],
] as const)('%s is refused, in words that say what it has', async (_, claims, words) => {
  const file = join(await mkdtemp(join((await testRun()).path, 'token-')), 'token');
  await writeFile(file, kafka.tokens.token(claims));
  const { consumer } = await withOauth({ tokenFile: file });
  await kafkaDetails(consumer, words);
  await expectNoSecret(consumer);
  await expectRefused(consumer, words);
});

longTest("a wrong client secret is refused, in the token endpoint's words", async () => {
  const { consumer } = await withOauth({ clientSecret: 'canary-wrong' });
  const words = /token endpoint .*\/token answered 401: invalid_client: not the secret of orders consumer/;
  await kafkaDetails(consumer, words);
  await expectNoSecret(consumer);
  await expectRefused(consumer, words);
  expect(consumer.logs.all.join('\n')).not.toContain('canary-wrong');
});

test('a token server that is away is waited for, and its words are in the health', async () => {
  const { tokens } = kafka;
  await tokens.leave();
  const { topic, consumer } = await withOauth();
  try {
    await kafkaDetails(consumer, /token endpoint .*\/token does not answer: .*ECONNREFUSED/);
  } finally {
    await tokens.comeBack();
  }
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  await awaitRoot(consumer, 'Kafka to be UP', ({ components }) => components['kafka']?.status === 'UP');
  await expectNoSecret(consumer);
});

longTest('a token file is waited for, and read at each login', async () => {
  const { broker, tokens } = kafka;
  const folder = await mkdtemp(join((await testRun()).path, 'token-'));
  const file = join(folder, 'token');
  const replace = async (token: string): Promise<void> => {
    await writeFile(`${file}.new`, token);
    await rename(`${file}.new`, file);
  };
  const { topic, consumer } = await withOauth({ tokenFile: file });
  await kafkaDetails(consumer, /file of kafka.sasl.oauth.tokenFile cannot be read: ENOENT/);
  // The session ends with the token, so whoever reads on after that has logged in with another one.
  const end = Date.now() + 20_000;
  await replace(tokens.token({ lives: 20 }));
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  await replace(tokens.token());
  await until('the first token to end', async () => (Date.now() > end ? true : undefined));
  await produce(topic, [{ value: '{}' }], { broker });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 2 });
  expect(await membership(consumer, { broker })).toMatchObject({ joins: 1 });
  await expectNoSecret(consumer);
});
