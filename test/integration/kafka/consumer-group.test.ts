import { expect, test } from '@jest/globals';
import { createTopic } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { type SteadyLoad, startSteadyLoad } from '../stack/steady-load.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

const PARTITIONS = 6;

type Protocol = 'classic' | 'consumer';

/** The partitions that a consumer was given last, by its log; of a topic alone. */
function owned({ logs }: StartedConsumer, topic: string): readonly number[] {
  const line = logs.all.findLast((each) => each.includes('"msg":"assigned"')) ?? '{}';
  const partitions: readonly number[] = JSON.parse(line).partitions?.[topic] ?? [];
  return partitions.toSorted();
}

/** Waits until the consumers have all partitions between them, and none of them has none. */
async function share(consumers: readonly StartedConsumer[], topic: string): Promise<void> {
  await until(
    `shares of ${consumers.length} members`,
    async () => {
      const shares = consumers.map((consumer) => owned(consumer, topic));
      const isWhole = new Set(shares.flat()).size === PARTITIONS && shares.flat().length === PARTITIONS;
      return isWhole && shares.every((of) => of.length > 0) ? true : undefined;
    },
    90_000,
  );
}

/** A topic under load, and consumers of one group. */
async function underLoad() {
  const topic = await createTopic({ partitions: PARTITIONS });
  const [groupId, schema] = [randomName('group'), randomName('schema')];
  const load = await startSteadyLoad(topic, { partitions: PARTITIONS });
  const start = (groupProtocol: Protocol, settings: object = {}): Promise<StartedConsumer> =>
    startConsumer({
      ...{ topics: [topic], groupId, schema },
      settings: { kafka: { groupProtocol, groupInstanceId: randomName('place'), sessionTimeout: '6s', ...settings } },
    });
  return { topic, groupId, schema, load, start };
}

async function stop(consumer: StartedConsumer): Promise<void> {
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
}

async function eachOnce(topic: string, schema: string, load: SteadyLoad): Promise<void> {
  await awaitEachOnce({ schema, topic, records: await load.stop(), timeout: 120_000 });
}

/** No warnings: of two owners that overlap for a moment one is turned away, and a connection may be closed under a request. */
const errors = ({ logs }: StartedConsumer): readonly string[] =>
  logs.all.filter((line) => line.includes('"level":"error"') || line.includes('"level":"fatal"'));

test("members of the brokers' protocol take over a classic group, and hand it on, every record once", async () => {
  const { topic, schema, load, start } = await underLoad();
  const classic = await start('classic');
  await share([classic], topic);
  const [first, second] = await Promise.all([start('consumer'), start('consumer')]);
  await share([classic, first, second], topic);
  await stop(classic);
  await share([first, second], topic);
  await stop(first);
  await share([second], topic);
  await load.more(1_000);
  await eachOnce(topic, schema, load);
  await stop(second);
  expect([...errors(first), ...errors(second)]).toEqual([]);
});

longTest("rolled to the brokers' protocol and back under load, a group has every record once", async () => {
  const { topic, schema, load, start } = await underLoad();
  let members = [await start('classic'), await start('classic'), await start('classic')];
  await share(members, topic);
  for (const protocol of ['consumer', 'classic'] as const) {
    for (const before of members) {
      const next = await start(protocol);
      members = [...members, next];
      await share(members, topic);
      await load.more(1_000);
      members = members.filter((member) => member !== before);
      await stop(before);
      await share(members, topic);
      await load.more(1_000);
    }
  }
  await eachOnce(topic, schema, load);
  await Promise.all(members.map(stop));
});

longTest(
  'who is killed and starts again in its place gets its partitions at once, though its session goes on',
  async () => {
    const { topic, schema, load, start } = await underLoad();
    const first = await start('classic');
    const other = await start('consumer');
    const place = { groupInstanceId: randomName('place') };
    const killed = await start('consumer', place);
    await share([first, other, killed], topic);
    await stop(first);
    await share([other, killed], topic);
    const its = owned(killed, topic);
    killed.kill('SIGKILL');
    await killed.exited;
    const again = await start('consumer', place);
    await until(
      'the same partitions',
      async () => (owned(again, topic).join() === its.join() ? true : undefined),
      20_000,
    );
    await load.more(1_000);

    const twin = await start('consumer', place);
    expect(await again.exited).toMatchObject({ code: 1 });
    expect(again.logs.all.join('\n')).toContain('GROUP_INSTANCE_REPLACED');
    await share([other, twin], topic);
    await eachOnce(topic, schema, load);
    await Promise.all([other, twin].map(stop));
  },
);

longTest('who stood still for longer than its session is expelled, writes nothing twice, and joins again', async () => {
  const { topic, schema, load, start } = await underLoad();
  const classic = await start('classic');
  const members = [await start('consumer'), await start('consumer')] as const;
  await share([classic, ...members], topic);
  await stop(classic);
  await share(members, topic);
  const [still, other] = members;
  still.kill('SIGSTOP');
  await share([other], topic);
  await load.more(1_000);
  still.kill('SIGCONT');
  await until('its expulsion', async () =>
    still.logs.all.some((line) => line.includes('expelled from the group')) ? true : undefined,
  );
  await share(members, topic);
  await eachOnce(topic, schema, load);
  await Promise.all(members.map(stop));
});
