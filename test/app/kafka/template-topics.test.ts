import { expect, test } from '@jest/globals';
import { TemplateTopics } from '../../../app/kafka/template-topics.ts';
import { systemClock } from '../../../app/stream/ports/clock.ts';
import { OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { ReadTopics } from '../../../app/topics/read-topics.ts';
import { load, yaml } from '../configuration/loading.ts';
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

const FORBIDDEN = 29;
const UNKNOWN = 3;

/** Two topics of a template that the group has stored, and one that it has not; what Kafka lists and answers. */
async function unlisted(
  stored: () => Promise<readonly string[]> = async () => ['shop.a', 'shop.b', 'else'],
  { kafka, ...settings } = load({}),
) {
  const clock = new SimulatedTime();
  const topics = new ReadTopics({ ...settings, kafka: { ...kafka, topics: ['named', 'shop.{x}'] } });
  const [ending, listed, codes] = [new AbortController(), ['shop.a', 'shop.b', 'shop.c'], new Map<string, number>()];
  const asked: string[] = [];
  const reported: string[] = [];
  const lines: string[] = [];
  let held: Promise<void> | undefined;
  const described = (topic: string) => ({
    ...{ topic, topicErrorCode: codes.get(topic) ?? 0, id: '', partitions: 1, leaderless: [] },
    ...{ mayRead: null, mayWrite: null },
  });
  let describe: (of: readonly string[]) => Promise<readonly ReturnType<typeof described>[] | null> = async (of) =>
    of.map(described);
  const describing = (by: typeof describe): void => {
    describe = by;
  };
  const found = new TemplateTopics({
    ...{ topics, clock, groupId: 'group', startFrom: 'earliest', refreshMs: 1_000 },
    logger: {
      ...logger,
      info: (fields: object | string, message = '') => void lines.push(JSON.stringify(fields), message),
    },
    admin: {
      listTopics: async () => {
        const [answered, before] = [[...listed], held];
        held = undefined;
        await before;
        return answered;
      },
      topicIds: async () => new Map<string, string>(),
      logRanges: async () => [],
      committedOffsets: async () => [],
      describeTopics: (of) => {
        asked.push(of.join());
        return describe(of);
      },
    },
    store: { begunTemplates: async () => new Set(), beginTemplates: async () => undefined, storedTopics: stored },
    onUnlisted: (forbidden, gone) =>
      void reported.push(
        [
          ...[...forbidden].map(([topic, { code }]) => `${topic} ${code}`),
          ...[...gone].map((topic) => `${topic} gone`),
        ].join(),
      ),
  });
  const watching = found.watch(ending.signal);
  /** A list lacks these topics from now on, since Kafka answers them by these codes. */
  const answer = (lacking: Readonly<Record<string, number>>) => {
    listed.splice(0, listed.length, ...['shop.a', 'shop.b', 'shop.c'].filter((topic) => !(topic in lacking)));
    codes.clear();
    for (const [topic, code] of Object.entries(lacking)) codes.set(topic, code);
  };
  /** The answer to the next list comes when the function is called that this returns. */
  const later = (): (() => void) => {
    let release: () => void = nothing;
    held = new Promise((resolve) => {
      release = resolve;
    });
    return () => release();
  };
  const taken = () => ({ asked: asked.splice(0), reported: reported.splice(0) });
  /** One more list. */
  const list = async (lacking: Readonly<Record<string, number>> = {}) => {
    answer(lacking);
    await clock.pass(1_000);
    return taken();
  };
  const end = async () => {
    ending.abort();
    await watching;
  };
  return { found, topics, clock, lines, answer, describing, later, taken, list, end };
}

test('a topic that was read before, and that Kafka forbids, is reported until a list has it again', async () => {
  const { list, end } = await unlisted();
  expect(await list({ 'shop.b': FORBIDDEN })).toEqual({ asked: ['shop.b'], reported: ['shop.b TOPIC_FORBIDDEN'] });
  expect(await list()).toEqual({ asked: [], reported: [''] });
  expect(await list({ 'shop.c': FORBIDDEN })).toEqual({ asked: ['shop.c'], reported: ['shop.c TOPIC_FORBIDDEN'] });
  await end();
});

test('the first list reports them, though it has no topic at all', async () => {
  const { found, answer, taken, end } = await unlisted();
  answer({ 'shop.a': FORBIDDEN, 'shop.b': FORBIDDEN, 'shop.c': UNKNOWN });
  expect(await found.list()).toEqual([]);
  expect(taken()).toEqual({ asked: ['shop.a,shop.b'], reported: ['shop.a TOPIC_FORBIDDEN,shop.b TOPIC_FORBIDDEN'] });
  await end();
});

test('one that was deleted is asked for until Kafka has not had it for 5 s, and none that no template takes, or is owned', async () => {
  const { found, lines, list, end } = await unlisted();
  for (let second = 0; second < 5; second += 1) {
    expect(await list({ 'shop.a': UNKNOWN })).toEqual({ asked: ['shop.a'], reported: [''] });
  }
  expect(await list({ 'shop.a': UNKNOWN })).toEqual({ asked: ['shop.a'], reported: ['shop.a gone'] });
  expect(await list({ 'shop.a': UNKNOWN })).toEqual({ asked: [], reported: ['shop.a gone'] });
  found.assigned([{ topic: 'shop.b', partition: 0 }]);
  expect(await list({ 'shop.b': FORBIDDEN })).toEqual({ asked: [], reported: [''] });
  expect(lines).toEqual([]);
  await end();
});

test('one that a broker which just started does not have is not deleted', async () => {
  const { list, end } = await unlisted();
  for (let nth = 0; nth < 4; nth += 1) {
    await list({ 'shop.a': UNKNOWN });
  }
  await list();
  for (let nth = 0; nth < 4; nth += 1) {
    expect((await list({ 'shop.a': UNKNOWN })).reported).toEqual(['']);
  }
  await end();
});

test('one that was forbidden is deleted once Kafka has not had it for 5 s, and is logged once', async () => {
  const { lines, list, end } = await unlisted();
  await list({ 'shop.a': FORBIDDEN });
  const still = { asked: ['shop.a'], reported: ['shop.a TOPIC_FORBIDDEN'] };
  expect(await list({ 'shop.a': UNKNOWN })).toEqual(still);
  expect(await list({ 'shop.a': FORBIDDEN })).toEqual(still);
  for (let second = 0; second < 5; second += 1) {
    expect(await list({ 'shop.a': UNKNOWN })).toEqual(still);
  }
  expect(await list({ 'shop.a': UNKNOWN })).toEqual({ asked: ['shop.a'], reported: ['shop.a gone'] });
  await list({ 'shop.a': UNKNOWN });
  expect(lines).toEqual(['{"topics":["shop.a"]}', expect.stringMatching(/^these topics were deleted/)]);
  await end();
});

const SHARED = load({ cwd: yaml("tables: [{ topic: '{shop}.{x}', table: 'public.{shop}', key: primary }]") });

/** Topics of one table, of which the first is in use, and has been listed with the others. */
async function sharing() {
  const shared = await unlisted(async () => [], SHARED);
  shared.topics.use(['shop.a']);
  await shared.list();
  return { ...shared, waiting: () => [...shared.topics.waiting.keys()] };
}

test('a topic that Kafka forbids still shares its table: the other ones wait until it is deleted', async () => {
  const { topics, list, waiting, end } = await sharing();
  await list({ 'shop.b': FORBIDDEN, 'shop.c': UNKNOWN });
  expect(topics.waiting.get('shop.a')?.message).toContain('shop.a, shop.b');
  await list({ 'shop.c': UNKNOWN });
  expect(waiting()).toEqual(['shop.a']);
  await list({ 'shop.b': FORBIDDEN, 'shop.c': UNKNOWN });
  for (let second = 0; second < 6; second += 1) {
    expect(waiting()).toEqual(['shop.a']);
    await list({ 'shop.b': UNKNOWN, 'shop.c': UNKNOWN });
  }
  expect(waiting()).toEqual([]);
  await end();
});

test('so does one that a list lacks before the brokers have answered about it', async () => {
  const { found, list, describing, answer, waiting, end } = await sharing();
  answer({ 'shop.b': FORBIDDEN, 'shop.c': UNKNOWN });
  await found.requireListed(['shop.d']).catch(() => undefined);
  expect(waiting()).toEqual(['shop.a']);
  describing(async () => Promise.reject(new OutageError('no broker answers')));
  await list({ 'shop.b': FORBIDDEN, 'shop.c': UNKNOWN });
  expect(waiting()).toEqual(['shop.a']);
  await end();
});

test('brokers that answer nothing about topics leave it to the list what is deleted', async () => {
  const { list, describing, waiting, end } = await sharing();
  describing(async () => null);
  await list({ 'shop.b': UNKNOWN, 'shop.c': UNKNOWN });
  expect(waiting()).toEqual([]);
  await list();
  expect(waiting()).toEqual(['shop.a']);
  await end();
});

test('one that was owned when it was deleted shares its table no longer', async () => {
  const { found, topics, list, clock, waiting, end } = await sharing();
  topics.use(['shop.b']);
  found.assigned([{ topic: 'shop.b', partition: 0 }]);
  await list({ 'shop.b': UNKNOWN, 'shop.c': UNKNOWN });
  found.answered(['shop.b']);
  await clock.pass(5_000);
  found.assigned([{ topic: 'shop.a', partition: 0 }]);
  expect(waiting()).toEqual(['shop.a', 'shop.b']);
  found.answered(['shop.b']);
  expect(waiting()).toEqual([]);
  await end();
});

test('before a topic is read that the last list lacks, the cluster is listed: another one may have its table', async () => {
  const { found, topics, answer, end } = await unlisted();
  answer({ 'shop.b': UNKNOWN, 'shop.c': UNKNOWN });
  await found.list();
  answer({ 'shop.c': UNKNOWN });
  await found.requireListed(['shop.a', 'named', 'else']);
  expect(topics.listed).toEqual(['shop.a']);
  await found.requireListed(['shop.a', 'shop.b']);
  expect(topics.listed).toEqual(['shop.a', 'shop.b']);
  await expect(found.requireListed(['shop.a', 'shop.c'])).rejects.toThrow('no topic shop.c in its list yet');
  answer({});
  await found.requireListed(['shop.a', 'shop.c']);
  await end();
});

test('a list that was asked for before another one, and comes behind it, is not taken', async () => {
  const { found, topics, answer, later, end } = await unlisted();
  answer({ 'shop.b': UNKNOWN, 'shop.c': UNKNOWN });
  const release = later();
  const late = found.list();
  answer({});
  await found.requireListed(['shop.b']);
  release();
  await late;
  expect(topics.listed).toEqual(['shop.a', 'shop.b', 'shop.c']);
  await end();
});
