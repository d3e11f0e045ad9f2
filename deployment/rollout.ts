import { Type } from 'typebox';
import { section } from '../settings/section.ts';

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
  },
  { ...section, description: 'How Pods are replaced.' },
);
