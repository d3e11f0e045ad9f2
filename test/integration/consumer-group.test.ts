import { expect, test } from '@jest/globals';
import { createTopic } from './stack/kafka-client.ts';
import { longTest } from './stack/long-test.ts';
import { randomName } from './stack/random-name.ts';
import { type StartedConsumer, startConsumer } from './stack/start-consumer.ts';
import { type SteadyLoad, startSteadyLoad } from './stack/steady-load.ts';
import { awaitEachOnce } from './stack/stored-rows.ts';
import { until } from './stack/until.ts';

const PARTITIONS = 6;

type Protocol = 'classic' | 'consumer';

/** The partitions that a consumer was given last, by its log; of a topic alone. */
function owned({ logs }: StartedConsumer, topic: string): readonly number[] {
  const line = logs.all.findLast((each) => each.includes('"msg":"assigned"')) ?? '{}';
  return JSON.parse(line).partitions?.[topic] ?? [];
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

const warnings = ({ logs }: StartedConsumer): readonly string[] =>
  logs.all.filter((line) => /"level":"?(warn|error|40|50)/.test(line));

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
  expect([...warnings(first), ...warnings(second)]).toEqual([]);
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
