import { expect, test } from '@jest/globals';
import { FAKETIME, type SetClock } from '../../../dev/run/set-clock.ts';
import { membership, TELLS_JOINS } from '../stack/group-membership.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { someCases } from '../stack/long-test.ts';
import { clockOfTest } from '../stack/set-clock.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

const SESSION_TIMEOUT = '6s';
/** After each step; all of them take longer than the session time-out. */
const HEARTBEATS = 2;
const HOUR_MS = 3_600_000;

const testWithFaketime = FAKETIME !== undefined || process.env['CI'] === 'true' ? test : test.skip;

async function heartbeats({ get }: StartedConsumer): Promise<number> {
  const text = await (await get('/actuator/prometheus')).text();
  return Number(/^kafka_consumer_coordinator_heartbeat_total\{[^}]*\} (\S+)$/m.exec(text)?.[1]);
}

/** The time of day by the consumer's clock, to the second. */
async function timeOf({ get, endpoint }: StartedConsumer): Promise<number> {
  const answer = await get(endpoint.healthPath);
  await answer.body?.cancel();
  return Date.parse(answer.headers.get('date') ?? '');
}

/** Sets the clock off and waits for the next heartbeats. */
async function setOff(consumer: StartedConsumer, clock: SetClock, hours: number): Promise<void> {
  const before = await heartbeats(consumer);
  clock.setOff(`${hours > 0 ? '+' : ''}${hours}h`);
  await until('the other time', async () =>
    Math.abs((await timeOf(consumer)) - Date.now() - hours * HOUR_MS) < 60_000 ? true : undefined,
  );
  const have = async () => ((await heartbeats(consumer)) >= before + HEARTBEATS ? true : undefined);
  await until('heartbeats', have);
}

testWithFaketime.each(
  someCases(1, [
    ['forward', 1],
    ['back', -1],
  ] as const),
)('a clock that is set %s by an hour, again and again, disturbs no member of the group', async (_where, step) => {
  const topic = await createTopic();
  const clock = await clockOfTest();
  const settings = { ...TELLS_JOINS, kafka: { sessionTimeout: SESSION_TIMEOUT } };
  const consumer = await startConsumer({ topics: [topic], settings, env: clock.env });
  await produce(topic, [{ value: '1' }]);
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  const before = await membership(consumer);
  for (const times of [1, 2, 3, 4]) {
    await setOff(consumer, clock, times * step);
  }
  await produce(topic, [{ value: '2' }]);
  await awaitEachOnce({ schema: consumer.schema, topic, records: 2 });
  expect(await membership(consumer)).toEqual(before);
  expect(consumer.logs.all.filter((line) => /timed out|tries again|stopped for good/.test(line))).toEqual([]);
});
