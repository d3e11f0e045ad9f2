import { type Static, Type } from 'typebox';
import { LIVENESS_PROBE, type ProbeTiming, READINESS_PROBE } from '../probes.ts';
import { section } from '../section.ts';

const seconds = (minimum: number, fallback: number, description: string) =>
  Type.Integer({ minimum, maximum: 3_600, default: fallback, description });

const timing = (probe: ProbeTiming, description: string) =>
  Type.Object(
    {
      initialDelaySeconds: seconds(
        0,
        probe.initialDelaySeconds,
        "Time from the container's start to the first question.",
      ),
      periodSeconds: seconds(1, probe.periodSeconds, 'Time between two questions.'),
      timeoutSeconds: seconds(1, probe.timeoutSeconds, 'Time that an answer may take; at most the period.'),
      failureThreshold: Type.Integer({
        minimum: 1,
        maximum: 100,
        default: probe.failureThreshold,
        description: 'Failures in a row after which the Pod counts as failed.',
      }),
    },
    { ...section, description },
  );

/** What Kubernetes asks the Pods, and how often. */
export const probes = Type.Object(
  {
    paths: Type.Enum(['root', 'groups'], {
      default: 'root',
      description:
        'root: both probes ask /actuator/health. groups: each asks its group, so that a database outage takes Pods out of service but restarts none.',
    }),
    liveness: timing(LIVENESS_PROBE, 'When a Pod is restarted.'),
    readiness: timing(READINESS_PROBE, 'When a Pod is taken out of its Service.'),
  },
  { ...section, description: 'What Kubernetes asks the Pods, and how often.' },
);

/** The probes with their timing filled in. */
export type ProbeSettings = Static<typeof probes>;
