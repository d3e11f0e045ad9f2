import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { IS_LONG_RUN } from '../../../integration/stack/long-test.ts';
import { ConsumerWorld } from './simulated-broker-members.ts';

/** What happens to the members, one of whom `who` stands for. */
type Step = { readonly who: number; readonly ms: number } & (
  | { readonly what: 'start' | 'stop' | 'leave' | 'kill' | 'kill and start' | 'expire' | 'cut' | 'refuse' }
  | { readonly what: 'lose'; readonly answers: number }
);

const who = fc.nat(5);
const ms = fc.integer({ min: 0, max: 4_000 });
const loss = fc.record({ what: fc.constant('lose' as const), answers: fc.integer({ min: 1, max: 3 }), who, ms });

/** Steps in which a member never goes on with what another one may have been told to own. */
const calm = fc.oneof(fc.record({ what: fc.constantFrom('start', 'leave', 'kill', 'refuse'), who, ms }), loss);
const rough = fc.oneof(
  fc.record({ what: fc.constantFrom('start', 'stop', 'kill', 'kill and start', 'expire', 'cut'), who, ms }),
  loss,
);

function happen(world: ConsumerWorld, step: Step, stopping: Set<object>, running: Promise<unknown>[]): void {
  const alive = world.processes.filter((process) => !process.isKilled && !stopping.has(process));
  const process = alive[step.who % Math.max(1, alive.length)];
  if (step.what === 'start' || process === undefined) {
    world.start(`place-${world.processes.length}`);
    return;
  }
  switch (step.what) {
    case 'stop':
      stopping.add(process);
      running.push(process.stop());
      break;
    case 'leave':
      stopping.add(process);
      process.drain();
      running.push(process.member.leave(3_000));
      break;
    case 'kill':
      process.kill();
      break;
    case 'kill and start':
      process.kill();
      world.start(process.instanceId);
      break;
    case 'expire': {
      const ids = [...world.group.members.keys()];
      world.group.expire(ids[step.who % Math.max(1, ids.length)] ?? '');
      break;
    }
    case 'cut':
      process.link.cutUntil = world.time.milliseconds + step.ms * 15;
      break;
    case 'refuse':
      process.link.refusals.push(16);
      break;
    case 'lose':
      process.link.losesAnswers += step.answers;
      break;
  }
}

/** Lets the steps happen, then heals everything. */
async function play(
  steps: readonly Step[],
  releaseMs: number,
  assignmentMs: number,
  look: (world: ConsumerWorld) => void = () => undefined,
): Promise<ConsumerWorld> {
  const world = new ConsumerWorld(assignmentMs);
  const stopping = new Set<object>();
  const running: Promise<unknown>[] = [];
  world.start('place-first');
  for (const step of steps) {
    happen(world, step, stopping, running);
    for (const process of world.processes) process.releaseMs = releaseMs;
    await world.time.pass(step.ms, () => look(world));
  }
  if (world.processes.every((process) => process.isKilled || stopping.has(process))) world.start('place-last');
  for (const process of world.processes.filter(({ isKilled }) => !isKilled)) process.link.cutUntil = 0;
  await world.time.pass(180_000, () => look(world));
  await Promise.all(running);
  return world;
}

const wrong = (world: ConsumerWorld) => [...world.writers].filter(([, count]) => count !== 1);
const times = [fc.constantFrom(0, 500, 2_500), fc.constantFrom(0, 1_000)] as const;

test('whatever happens, in the end every partition is written by one member, by differences that fit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(rough, { maxLength: 12 }), ...times, async (steps, releaseMs, assignmentMs) => {
      const world = await play(steps as Step[], releaseMs, assignmentMs);
      expect(wrong(world)).toEqual([]);
      expect(world.mistakes).toEqual([]);
    }),
    { numRuns: IS_LONG_RUN ? 30 : 10 },
  );
}, 60_000);

const LEAVES_WHILE_IT_GIVES_UP: Step[] = [
  { what: 'start', who: 0, ms: 0 },
  { what: 'leave', who: 0, ms: 0 },
];

test('no partition has two writers where no member is taken for dead, whatever answers are lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(calm, { maxLength: 10 }), ...times, async (steps, releaseMs, assignmentMs) => {
      const doubles: unknown[] = [];
      const world = await play(steps as Step[], releaseMs, assignmentMs, ({ writers }) => {
        doubles.push(...[...writers].filter(([, count]) => count > 1));
      });
      expect(doubles).toEqual([]);
      expect(wrong(world)).toEqual([]);
    }),
    { numRuns: IS_LONG_RUN ? 30 : 10, examples: [[LEAVES_WHILE_IT_GIVES_UP, 2_500, 0]] },
  );
}, 60_000);
