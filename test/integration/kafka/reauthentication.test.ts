import { expect, test } from '@jest/globals';
import { membership, TELLS_JOINS } from '../stack/group-membership.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { type OauthKafka, startOauthKafka } from '../stack/oauth-kafka.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { recordsIn, startSteadyLoad } from '../stack/steady-load.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { awaitRoot, lagOf } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

const PARTITIONS = 2;

/** A consumer with a dead-letter topic, whose Kafka makes all clients log in again after so many milliseconds. */
async function withSessions(session: number, tokenSeconds: number) {
  const kafka = await startOauthKafka(session);
  const { broker, secured, tokens } = kafka;
  tokens.claims = { lives: tokenSeconds };
  const [topic, letters] = [await createTopic({ broker, partitions: PARTITIONS }), await createTopic({ broker })];
  const { endpoint: tokenEndpoint, clientId, clientSecret } = tokens;
  const sasl = { mechanism: 'oauthbearer', oauth: { tokenEndpoint, clientId, clientSecret } };
  const settings = { ...TELLS_JOINS, kafka: { sasl }, deadLetters: { to: 'both', topic: letters } };
  const consumer = await startConsumer({ topics: [topic], brokers: [secured], settings });
  return { kafka, topic, letters, consumer };
}

/** Waits until the consumer has asked for so many more tokens, each of which takes a new session. */
function moreTokens({ tokens }: OauthKafka, count: number, timeout: number): Promise<unknown> {
  const goal = tokens.asked.length + count;
  return until(`${count} more tokens`, async () => (tokens.asked.length >= goal ? true : undefined), timeout);
}

/** Broken lines of the clients, of which a broker that ends a session makes one on each connection. */
const closedConnections = ({ logs }: StartedConsumer): readonly string[] =>
  logs.all.filter((line) => /Closed connection|ECONNRESET|ILLEGAL_SASL_STATE|Crash|refuse/.test(line));

/**
 * Load, then none, then load again, each for so many tokens: the connections of fetches, of the group, of the dead letters
 * and of the admin client all outlive their sessions, with requests on them and without.
 */
async function outliveSessions(
  { session, tokenSeconds }: Readonly<Record<'session' | 'tokenSeconds', number>>,
  tokens: { readonly underLoad: number; readonly idle: number },
): Promise<void> {
  const { kafka, topic, letters, consumer } = await withSessions(session, tokenSeconds);
  const { broker } = kafka;
  const timeout = (tokens.underLoad + tokens.idle) * tokenSeconds * 2_000;
  const load = await startSteadyLoad(topic, { broker, partitions: PARTITIONS });
  await produce(topic, [{ value: 'broken' }], { broker });
  await moreTokens(kafka, tokens.underLoad, timeout);
  await load.stop();
  await moreTokens(kafka, tokens.idle, timeout);
  await produce(topic, [{ value: 'broken' }, { value: '{}' }], { broker });
  const records = await recordsIn(topic, { broker });
  await awaitEachOnce({ schema: consumer.schema, topic, records });
  await until('both dead letters', async () => ((await recordsIn(letters, { broker })) === 2 ? true : undefined));
  await awaitRoot(consumer, 'a lag of 0', (health) => lagOf(health) === 0);
  expect(await membership(consumer, { broker })).toMatchObject({ joins: 1, members: [expect.any(String)] });
  expect(closedConnections(consumer)).toEqual([]);
}

test('tokens and sessions of a few seconds end under load and without it: no rebalance, each record once', () =>
  outliveSessions({ session: 5_000, tokenSeconds: 12 }, { underLoad: 2, idle: 2 }));

longTest(
  'a token server that goes away while sessions end is an outage: what comes meanwhile is written after it, once',
  async () => {
    const { kafka, topic, consumer } = await withSessions(5_000, 7);
    const { broker, tokens } = kafka;
    const load = await startSteadyLoad(topic, { broker, partitions: PARTITIONS });
    await awaitRoot(consumer, 'Kafka to be UP', ({ components }) => components['kafka']?.status === 'UP');
    await tokens.leave();
    const words = /token endpoint .* does not answer/;
    await awaitRoot(consumer, 'Kafka to be DOWN', ({ components: { kafka: told } }) =>
      words.test(JSON.stringify(told)),
    );
    await load.more(500);
    await tokens.comeBack();
    await awaitRoot(consumer, 'Kafka to be UP', ({ components }) => components['kafka']?.status === 'UP');
    const records = await load.stop();
    await awaitEachOnce({ schema: consumer.schema, topic, records });
    expect(consumer.logs.all.filter((line) => line.includes('ILLEGAL_SASL_STATE'))).toEqual([]);
  },
);

longTest(
  'sessions of 20 s for three minutes of load, with tokens that end: no rebalance, each record once',
  () => outliveSessions({ session: 20_000, tokenSeconds: 30 }, { underLoad: 7, idle: 2 }),
  420_000,
);
