import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { partitionKey } from '../../../../app/records/record.ts';
import { IS_LONG_RUN } from '../../../integration/stack/long-test.ts';
import { REFRESH_MS, type TemplatedProcess, TemplatedWorld } from './templated-members.ts';

/** Whatever happened is over after this time: sessions, pauses before joins, lists, and looks at the topics. */
const CALM_MS = 2 * REFRESH_MS + 60_000;

const TOPICS = ['t.a', 't.b', 't.c', 't.d', 'other', '__t.a', 't.a.dead-letters'];

interface Step {
  readonly what: string;
  readonly act: (world: TemplatedWorld) => void;
}

const aTopic = fc.constantFrom(...TOPICS);

let places = 0;

const running = (world: TemplatedWorld): readonly TemplatedProcess[] =>
  world.templated.filter(({ isStopping }) => !isStopping);

const withProcess = (what: string, act: (world: TemplatedWorld, process: TemplatedProcess) => void) =>
  fc.nat({ max: 20 }).map(
    (place): Step => ({
      what: `${what} ${place}`,
      act: (world) => {
        const all = running(world).filter(({ topics }) => topics.templates.length > 0);
        const process = all[place % Math.max(1, all.length)];
        if (process !== undefined && all.length > 1) {
          act(world, process);
        }
      },
    }),
  );

const start = (template: string | null, most: number): fc.Arbitrary<Step> =>
  fc.constant({
    what: template === null ? 'start one of before' : 'start',
    act: (world) => {
      if (running(world).length < most) {
        places += 1;
        world.startTemplated(`place-${places}`, template);
      }
    },
  });

const STEPS: readonly fc.Arbitrary<Step>[] = [
  start('t.{name}', 5),
  start(null, 3),
  withProcess('stop', (_world, process) => void process.stop()),
  withProcess('kill', (world, process) => world.kill(process)),
  withProcess('cut off', (world, { link }) => {
    link.cutUntil = world.time.milliseconds + 15_000;
  }),
  fc.tuple(aTopic, fc.integer({ min: 1, max: 4 })).map(([topic, count]) => ({
    what: `${topic} has ${count} partitions`,
    act: (world) => void world.counts.set(topic, Math.max(count, world.counts.get(topic) ?? 0)),
  })),
  aTopic.map((topic) => ({ what: `delete ${topic}`, act: (world) => void world.counts.delete(topic) })),
  aTopic.map((topic) => ({ what: `do not list ${topic}`, act: (world) => void world.unlisted.add(topic) })),
  fc.constant({ what: 'move the coordinator', act: (world) => world.group.move() }),
];

const timeline = fc
  .array(fc.tuple(fc.oneof(...STEPS), fc.integer({ min: 0, max: 40_000 })), { maxLength: 14, size: 'max' })
  .map((all) => ({ all, [fc.toStringMethod]: () => all.map(([{ what }, ms]) => `${what}, ${ms} ms`).join('; ') }));

/** No two owners by one deal, however the topics change. */
function deals(world: TemplatedWorld): readonly string[] {
  return world.partitions.flatMap((partition) => {
    const by = world.ownersOf(partition).map(({ link }) => link.deal);
    return new Set(by).size < by.length ? [`${partitionKey(partition)} by deals ${by}`] : [];
  });
}

async function run(steps: readonly (readonly [Step, number])[]): Promise<void> {
  const world = new TemplatedWorld();
  const found: string[] = [];
  const pass = (ms: number) => world.time.pass(ms, () => found.push(...deals(world)));
  places += 1;
  world.startTemplated(`place-${places}`);
  await pass(3_000);
  for (const [{ act }, ms] of steps) {
    act(world);
    await pass(ms);
  }
  world.unlisted.clear();
  for (const process of running(world).filter(({ topics }) => topics.templates.length === 0)) {
    world.kill(process);
  }
  await pass(CALM_MS);
  const taken = (topic: string): boolean => topic === 'a' || /^t\.[a-d]$/.test(topic);
  for (const partition of world.partitions) {
    expect([partition, world.ownersOf(partition).length]).toEqual([partition, taken(partition.topic) ? 1 : 0]);
  }
  const existing = new Set(world.counts.keys());
  for (const process of running(world)) {
    expect(process.owned.filter(({ topic }) => !existing.has(topic))).toEqual([]);
    expect(process.topics.all.filter((topic) => !existing.has(topic))).toEqual([]);
    expect(process.events.filter((event) => event.startsWith('fatal'))).toEqual([]);
  }
  const sizes = running(world).map(({ owned }) => owned.length);
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  expect(found).toEqual([]);
  const { joins } = world.group;
  await pass(2 * REFRESH_MS);
  expect(world.group.joins).toBe(joins);
}

test('whatever topics and members come and go, each partition that a template takes has one owner, and no other has any', async () => {
  await fc.assert(
    fc.asyncProperty(timeline, ({ all }) => run(all)),
    { numRuns: IS_LONG_RUN ? 200 : 20 },
  );
});

/** Members that own what there is; nothing is revoked from now on but by what the test does. */
async function settled(count: number): Promise<{ world: TemplatedWorld; members: readonly TemplatedProcess[] }> {
  const world = new TemplatedWorld();
  world.counts.set('t.a', 4);
  for (let nth = 0; nth < count; nth += 1) {
    world.startTemplated(`member-${nth}`);
    await world.time.pass(5_000);
  }
  await world.time.pass(5_000);
  for (const { revoked } of world.templated) {
    revoked.splice(0);
  }
  return { world, members: world.templated };
}

const ownersOf = (world: TemplatedWorld, topic: string): readonly number[] =>
  world.partitions.filter((each) => each.topic === topic).map((each) => world.ownersOf(each).length);

test('topics that come within a refresh are assigned in one generation, within a minute, and nothing else moves', async () => {
  const { world, members } = await settled(2);
  const { joins } = world.group;
  for (const topic of ['t.b', 't.c', 't.d']) {
    world.counts.set(topic, 2);
    await world.time.pass(1_000);
  }
  await world.time.pass(REFRESH_MS + 10_000);
  expect(['t.b', 't.c', 't.d'].flatMap((topic) => ownersOf(world, topic))).toEqual([1, 1, 1, 1, 1, 1]);
  expect(members.flatMap(({ revoked }) => revoked)).toEqual([]);
  expect(world.group.joins - joins).toBe(1);
});

test('a topic that the list lacks stays, and one that the brokers do not have ends with one line', async () => {
  const { world, members } = await settled(2);
  world.unlisted.add('t.a');
  await world.time.pass(3 * REFRESH_MS);
  expect(ownersOf(world, 't.a')).toEqual([1, 1, 1, 1]);
  world.counts.delete('t.a');
  await world.time.pass(20_000);
  expect(members.flatMap(({ topics }) => topics.all)).toEqual(['a', 'a']);
  const lines = members.map(({ events }) => events.filter((event) => event.startsWith('these topics were deleted')));
  expect(lines.every((of) => of.length <= 1)).toBe(true);
  expect(lines.flat()).toContain(
    'these topics were deleted: what was read of them stays in the tables {"topics":["t.a"]}',
  );
});

test('a leader of the version before leaves what a template gave, and assigns nothing new', async () => {
  const world = new TemplatedWorld();
  world.counts.set('t.a', 4);
  world.startTemplated('old-leader', null);
  await world.time.pass(5_000);
  const one = world.startTemplated('one');
  await world.time.pass(5_000);
  expect(ownersOf(world, 't.a')).toEqual([0, 0, 0, 0]);
  expect(one.owned.length).toBeGreaterThan(0);
  void world.templated[0]?.stop();
  await world.time.pass(10_000);
  expect(ownersOf(world, 't.a')).toEqual([1, 1, 1, 1]);
});

test('where the leader dies, one of the version before that leads then takes nothing away that a template gave', async () => {
  const world = new TemplatedWorld();
  world.counts.set('t.a', 40);
  const first = world.startTemplated('first');
  await world.time.pass(5_000);
  world.startTemplated('old', null);
  await world.time.pass(5_000);
  const second = world.startTemplated('second');
  await world.time.pass(10_000);
  const before = second.owned.filter(({ topic }) => topic === 't.a');
  expect(before.length).toBeGreaterThan(0);
  second.revoked.splice(0);
  world.kill(first);
  await world.time.pass(20_000);
  expect(second.revoked.flat()).not.toContain('t.a');
  expect(second.owned).toEqual(expect.arrayContaining(before));
});

test('members with different templates are each assigned what their own take', async () => {
  const world = new TemplatedWorld();
  world.counts.set('t.a', 2);
  world.counts.set('u.a', 30);
  const one = world.startTemplated('one', 't.{name}');
  await world.time.pass(5_000);
  const other = world.startTemplated('other', 'u.{name}');
  await world.time.pass(10_000);
  const topicsOf = ({ owned }: TemplatedProcess) => [...new Set(owned.map(({ topic }) => topic))].toSorted();
  expect([topicsOf(one), topicsOf(other)]).toEqual([
    expect.not.arrayContaining(['u.a']),
    expect.not.arrayContaining(['t.a']),
  ]);
  expect([...ownersOf(world, 't.a'), ...ownersOf(world, 'u.a')]).toEqual(Array(32).fill(1));
});
