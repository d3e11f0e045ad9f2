import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { partitionKey } from '../../../../app/records/record.ts';
import { IS_LONG_RUN } from '../../../integration/stack/long-test.ts';
import { type SimulatedProcess, SimulatedWorld } from './simulated-members.ts';

/** Beats come this often, so a change of the group takes no longer. */
const BEAT_MS = 1_000;

/** The session of a member, and what the others need to join once it is over: the longest pause after failures, and a beat. */
const DEATH_MS = 10_000 + 5_000 + BEAT_MS;

/** Whatever happened is over after this time: sessions, pauses before joins, a look at the topics. */
const CALM_MS = 60_000;

/** A world in which each partition's owners are looked at whenever something has happened. */
class WatchedWorld extends SimulatedWorld {
  /** Until then a member may lack an answer, or be dead without the others knowing. */
  disturbedUntil = 0;
  readonly #unownedSince = new Map<string, number>();
  readonly findings: string[] = [];

  nth(place: number): SimulatedProcess | undefined {
    const running = this.alive.filter(({ isStopping }) => !isStopping);
    return running[place % Math.max(1, running.length)];
  }

  /** One after the other: a group that waits for a session may wait for that of its leader next. */
  disturb(ms: number): void {
    this.disturbedUntil = Math.max(this.disturbedUntil, this.time.milliseconds) + ms;
  }

  passWatched(ms: number): Promise<void> {
    return this.time.pass(ms, () => this.#look());
  }

  #look(): void {
    const now = this.time.milliseconds;
    const isDisturbed = now <= this.disturbedUntil || this.alive.some(({ isOfBefore }) => isOfBefore);
    for (const each of this.partitions) {
      const key = partitionKey(each);
      const owners = this.ownersOf(each);
      const deals = owners.filter(({ isOfBefore }) => !isOfBefore).map(({ link }) => link.deal);
      if (new Set(deals).size < deals.length || (owners.length > 1 && !isDisturbed)) {
        this.findings.push(`${now}: ${key} has ${owners.length} owners, by deals ${deals}`);
      }
      const isNobodyThere = this.alive.every(({ isStopping }) => isStopping);
      this.#unowned(key, owners.length > 0 || isDisturbed || isNobodyThere, now);
    }
  }

  #unowned(key: string, isFine: boolean, now: number): void {
    const since = isFine ? now : (this.#unownedSince.get(key) ?? now);
    this.#unownedSince.set(key, since);
    if (now - since > BEAT_MS + 100) {
      this.findings.push(`${now}: ${key} has no owner since ${since}`);
    }
  }
}

interface Step {
  readonly what: string;
  readonly act: (world: WatchedWorld) => void;
}

const aPlace = fc.nat({ max: 20 });

const stepOf = (what: string, act: (world: WatchedWorld, process: SimulatedProcess) => void): fc.Arbitrary<Step> =>
  aPlace.map((place) => ({
    what: `${what} ${place}`,
    act: (world) => {
      const process = world.nth(place);
      if (process !== undefined) {
        act(world, process);
      }
    },
  }));

let places = 0;

/** At most seven processes run. */
const start: fc.Arbitrary<Step> = fc.constant({
  what: 'start',
  act: (world) => {
    if (world.alive.filter(({ isStopping }) => !isStopping).length < 7) {
      places += 1;
      world.start(`place-${places}`);
    }
  },
});

/** The last one that stays takes what is left; where none stays, nobody owns anything. */
const stop = stepOf('stop', (world, process) => {
  const others = world.alive.filter((other) => !other.isStopping && other !== process);
  if (others.length > 0) {
    void process.stop();
    // Where no other one has joined yet, there is nobody to hand over to.
    world.disturb(others.some(({ link }) => link.deal > 0) ? 0 : 5 * BEAT_MS);
  }
});

const CALM_STEPS: readonly fc.Arbitrary<Step>[] = [
  start,
  stop,
  fc.constant({
    what: 'move the coordinator',
    act: (world) => {
      // The new one does not know who left since the last generation, and waits for the end of its session.
      world.disturb(world.group.state === 'Stable' ? 0 : DEATH_MS);
      world.group.move();
    },
  }),
];

const ROUGH_STEPS: readonly fc.Arbitrary<Step>[] = [
  ...CALM_STEPS,
  stepOf('kill', (world, process) => {
    if (world.alive.length > 1) {
      world.kill(process);
      world.disturb(DEATH_MS);
    }
  }),
  stepOf('kill and start again', (world, process) => {
    if (!process.isOfBefore) {
      world.kill(process);
      world.start(process.instanceId);
      world.disturb(DEATH_MS);
    }
  }),
  fc.tuple(fc.integer({ min: 500, max: 20_000 }), aPlace).map(([ms, place]) => ({
    what: `cut ${place} off for ${ms} ms`,
    act: (world) => {
      const process = world.nth(place);
      if (process !== undefined) {
        process.link.cutUntil = world.time.milliseconds + ms;
        world.disturb(ms + 40_000);
      }
    },
  })),
  fc.tuple(fc.constantFrom('join', 'sync', 'beat', 'leave'), aPlace).map(([name, place]) => ({
    what: `lose ${place}'s next answer to ${name}`,
    act: (world) => {
      const process = world.nth(place);
      if (process !== undefined) {
        process.link.loses = name;
        world.disturb(CALM_MS);
      }
    },
  })),
  fc.constant({
    what: 'lose a generation',
    act: (world) => {
      world.group.move(1);
      world.disturb(DEATH_MS);
    },
  }),
  fc.integer({ min: 8, max: 12 }).map((count) => ({
    what: `${count} partitions`,
    act: (world) => {
      // The ones of before notice it, too, but not those of this model.
      if (!world.alive.some(({ isOfBefore }) => isOfBefore)) {
        world.counts.set('a', Math.max(count, world.counts.get('a') ?? 0));
        world.disturb(8_000);
      }
    },
  })),
  fc.constant({
    what: 'start one of before',
    act: (world) => {
      world.startOfBefore();
      world.disturb(DEATH_MS);
    },
  }),
];

/** A step, and how long it is waited then, in milliseconds. */
const timeline = (steps: readonly fc.Arbitrary<Step>[], maxLength: number) =>
  fc.array(fc.tuple(fc.oneof(...steps), fc.integer({ min: 0, max: 4_000 })), { maxLength }).map((all) => ({
    all,
    [fc.toStringMethod]: () => all.map(([{ what }, ms]) => `${what}, ${ms} ms`).join('; '),
  }));

/** Runs the steps, and everything that follows from them; then each partition has one owner, and the shares are even. */
async function run(steps: readonly (readonly [Step, number])[]): Promise<void> {
  const world = new WatchedWorld();
  world.disturb(3 * BEAT_MS);
  world.start();
  await world.passWatched(3 * BEAT_MS);
  for (const [{ act }, ms] of steps) {
    act(world);
    await world.passWatched(ms);
  }
  await world.passWatched(Math.max(0, world.disturbedUntil - world.time.milliseconds) + CALM_MS);
  const staying = world.alive.filter(({ isStopping }) => !isStopping);
  const sizes = staying.map(({ owned }) => owned.length);
  expect(world.processes.flatMap(({ events }) => events.filter((event) => event.startsWith('fatal')))).toEqual([]);
  expect(world.mistakes).toEqual([]);
  expect(world.findings.slice(0, 3)).toEqual([]);
  expect(sizes.length === 0 || Math.max(...sizes) - Math.min(...sizes) <= 1).toBe(true);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(staying.length === 0 ? 0 : world.partitions.length);
  const { joins } = world.group;
  await world.passWatched(10 * BEAT_MS);
  expect(world.group.joins).toBe(joins);
}

test('whoever starts, stops and leads, each partition has one owner at each moment, but for a beat', async () => {
  await fc.assert(
    fc.asyncProperty(timeline(CALM_STEPS, 12), ({ all }) => run(all)),
    { numRuns: IS_LONG_RUN ? 100 : 30 },
  );
});

test('whatever dies, is lost, moves or is of before, no generation has two owners of a partition, and all get their shares', async () => {
  await fc.assert(
    fc.asyncProperty(timeline(ROUGH_STEPS, 12), ({ all }) => run(all)),
    { numRuns: IS_LONG_RUN ? 100 : 30 },
  );
});
