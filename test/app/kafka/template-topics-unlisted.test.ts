import { expect, test } from '@jest/globals';
import { TemplateTopics } from '../../../app/kafka/template-topics.ts';
import { OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { ReadTopics } from '../../../app/topics/read-topics.ts';
import { load, yaml } from '../configuration/loading.ts';
import { SimulatedTime } from './group/simulated-time.ts';

const nothing = () => undefined;
const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, fatal: nothing };

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
