import { type Static, Type } from 'typebox';
import type { Rule } from '../../settings/schema/check.ts';
import { section } from '../../settings/schema/schema.ts';
import type { ScalingSettings } from './scaling.ts';

/** How a new version replaces the old one. */
export const rollout = Type.Object(
  {
    maxSurge: Type.Integer({
      minimum: 0,
      maximum: 100,
      default: 0,
      description:
        'Pods beyond replicas that a rollout may start before it ends old ones; more than 0 needs partitions.',
    }),
    maxUnavailable: Type.Integer({
      minimum: 0,
      maximum: 100,
      default: 1,
      description: 'Pods below replicas that a rollout may leave.',
    }),
    minReadySeconds: Type.Integer({
      minimum: 0,
      // A rollout has to progress within 600 s, Kubernetes' own limit.
      maximum: 599,
      default: 0,
      description: 'Seconds that a new Pod has to be ready before the rollout goes on.',
    }),
  },
  { ...section, description: 'How Pods are replaced.' },
);

interface RolloutPart {
  readonly rollout: Static<typeof rollout>;
  readonly replicas: number;
  readonly partitions?: number;
  readonly scaling: ScalingSettings;
}

const rolloutMoves: Rule<RolloutPart> = {
  reads: ['rollout'],
  find: ({ rollout: { maxSurge, maxUnavailable } }) =>
    maxSurge > 0 || maxUnavailable > 0
      ? []
      : [
          {
            path: 'rollout.maxUnavailable',
            message: 'is 0 as rollout.maxSurge is, so no Pod could ever be replaced',
            given: maxUnavailable,
            allowed: 'at least 1, or a rollout.maxSurge of at least 1',
          },
        ],
};

const partitionsAreKnown: Rule<RolloutPart> = {
  reads: ['rollout.maxSurge', 'partitions'],
  find: ({ rollout: { maxSurge }, partitions }) =>
    maxSurge === 0 || partitions !== undefined
      ? []
      : [
          {
            path: 'partitions',
            message: `is missing, and with a rollout.maxSurge of ${maxSurge} it has to be known whether the additional Pods get any`,
            allowed: 'the number of partitions of all topics together, or a rollout.maxSurge of 0',
          },
        ],
};

const surgeFindsPartitions: Rule<RolloutPart> = {
  reads: ['rollout.maxSurge', 'partitions', 'replicas', 'scaling'],
  find: ({ rollout: { maxSurge }, partitions = Number.POSITIVE_INFINITY, replicas, scaling }) =>
    (scaling.keda ?? scaling.hpa) !== undefined || maxSurge === 0 || replicas + maxSurge <= partitions
      ? []
      : [
          {
            path: 'replicas',
            message: `and the ${maxSurge} Pods of rollout.maxSurge are more than there are partitions (${partitions}): new Pods would own none and prove nothing before old ones end`,
            given: replicas,
            allowed: `at most ${Math.max(partitions - maxSurge, 0)}, or a rollout.maxSurge of 0`,
          },
        ],
};

/** What a rollout needs in order to end. */
export const ROLLOUT_RULES: readonly Rule<RolloutPart>[] = [rolloutMoves, partitionsAreKnown, surgeFindsPartitions];
