import { expect, test } from '@jest/globals';
import { TemplateTopics } from '../../../app/kafka/template-topics.ts';
import { systemClock } from '../../../app/stream/ports/clock.ts';
import { OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { ReadTopics } from '../../../app/topics/read-topics.ts';
import { load } from '../configuration/loading.ts';
import { SimulatedTime } from './group/simulated-time.ts';

const nothing = () => undefined;
const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, fatal: nothing };

const SHOP = ['shop.a', 'shop.b', 'named', 'else'];

/** Topics by two templates, of which the first one may have begun before; what is stored of the first start. */
async function begin(startFrom: 'earliest' | 'latest' | 'committed', begun: readonly string[] = [], isAway = false) {
  const base = load({});
  const topics = new ReadTopics({ ...base, kafka: { ...base.kafka, topics: ['shop.{x}', 'named', '{y}.b'] } });
  const asked: string[] = [];
  const stored: unknown[] = [];
  const found = new TemplateTopics({
    topics,
    admin: {
      listTopics: async () => SHOP,
      topicIds: async (of) => new Map(of.map((topic) => [topic, `id of ${topic}`])),
      logRanges: async (topic) => {
        asked.push(topic);
        if (isAway) {
          throw new OutageError('no broker answers', { reason: 'kafka_away' });
        }
        return [
          { topic, partition: 0, start: 3n, end: 9n },
          { topic, partition: 1, isLeaderless: true },
        ];
      },
      committedOffsets: async (_group, topic) => [{ topic, partition: 0, offset: 5n }],
      describeTopics: async () => [],
    },
    store: {
      begunTemplates: async () => new Set(begun),
      storedTopics: async () => [],
      beginTemplates: async (templates, positions) => {
        const chosen = positions.map(({ topic, takenBy, choose }) => [
          topic,
          takenBy.join(),
          ...choose(new Set()).map(({ partition, offset, topicId }) => `${partition}: ${offset} of ${topicId}`),
        ]);
        stored.push(templates, ...chosen);
      },
    },
    ...{ groupId: 'group', startFrom, refreshMs: 1_000, clock: systemClock, logger, onUnlisted: nothing },
  });
  await found.list();
  await found.begin().catch(({ message }: Error) => stored.push(message));
  return { stored, asked };
}

test('the first start stores the ends of what templates take then, but not of a partition without a leader', async () => {
  const { stored } = await begin('latest');
  expect(stored).toEqual([
    ['shop.{x}', '{y}.b'],
    ['shop.a', 'shop.{x}', '0: 9 of id of shop.a'],
    ['shop.b', 'shop.{x},{y}.b', '0: 9 of id of shop.b'],
  ]);
});

test('with startFrom committed these are the offsets that the group has committed', async () => {
  expect((await begin('committed')).stored[1]).toEqual(['shop.a', 'shop.{x}', '0: 5 of id of shop.a']);
});

test('with startFrom earliest it stores the templates alone, and asks for no log', async () => {
  expect(await begin('earliest')).toEqual({ stored: [['shop.{x}', '{y}.b']], asked: [] });
});

test('a topic that a template has taken before is none of the first start of another one', async () => {
  expect(await begin('latest', ['shop.{x}'])).toEqual({ stored: [['{y}.b']], asked: [] });
});

test('nothing is stored where all templates have begun', async () => {
  expect(await begin('latest', ['shop.{x}', '{y}.b'])).toEqual({ stored: [], asked: [] });
});

test('nothing is stored while the end of a log is not known, as the next start is the first one then', async () => {
  expect((await begin('latest', [], true)).stored).toEqual(['no broker answers']);
});

/** A topic that is assigned, and then not known to the brokers; times are in milliseconds. */
function assigned() {
  const clock = new SimulatedTime();
  const base = load({});
  const topics = new ReadTopics({ ...base, kafka: { ...base.kafka, topics: ['named', 'shop.{x}'] } });
  const lines: string[] = [];
  const admin = {
    listTopics: async () => [],
    topicIds: async () => new Map<string, string>(),
    logRanges: async () => [],
    committedOffsets: async () => [],
    describeTopics: async () => [],
  };
  const found = new TemplateTopics({
    ...{ topics, admin, clock, groupId: 'group', startFrom: 'earliest', refreshMs: 1_000, onUnlisted: nothing },
    store: {
      begunTemplates: async () => new Set(),
      beginTemplates: async () => undefined,
      storedTopics: async () => [],
    },
    logger: { ...logger, info: (_fields: object | string, message = '') => void lines.push(message) },
  });
  const owned = [{ topic: 'shop.a', partition: 0 }];
  found.assigned(owned);
  const unknown = async (ms: number, topic = 'shop.a') => {
    await clock.pass(ms);
    found.answered([topic]);
    return topics.all;
  };
  return { found, owned, unknown, lines };
}

const IN_USE = ['named', 'shop.a'];

test('a topic is gone once the brokers have not had it for 5 s, and it is assigned no more', async () => {
  const { found, unknown, lines } = assigned();
  expect([await unknown(0), await unknown(6_000)]).toEqual([IN_USE, IN_USE]);
  found.assigned([]);
  expect([await unknown(0), await unknown(5_000), lines.length]).toEqual([['named'], ['named'], 1]);
});

test('a topic that the brokers have again within 5 s stays', async () => {
  const { found, unknown } = assigned();
  found.assigned([]);
  await unknown(0);
  await unknown(4_000, 'another');
  expect([await unknown(1_000), await unknown(4_900)]).toEqual([IN_USE, IN_USE]);
  expect(await unknown(100)).toEqual(['named']);
});

test('a topic stays as long as something of it is still written', async () => {
  const { found, owned, unknown } = assigned();
  let release: () => void = nothing;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  found.assigned([]);
  found.revoked(owned, released);
  await unknown(0);
  expect(await unknown(6_000)).toEqual(IN_USE);
  release();
  expect(await unknown(1)).toEqual(['named']);
});

test('a name of the settings is never gone', async () => {
  const { unknown } = assigned();
  await unknown(0, 'named');
  expect(await unknown(6_000, 'named')).toEqual(IN_USE);
});
