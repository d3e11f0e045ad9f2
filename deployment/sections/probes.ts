import { type Static, Type } from 'typebox';
import { LIVENESS_PROBE, type ProbeTiming, READINESS_PROBE, STARTUP_PROBE } from '../../contract/probes.ts';
import type { Rule } from '../../settings/schema/check.ts';
import { closed, section } from '../../settings/schema/schema.ts';

const seconds = (minimum: number, fallback: number, description: string) =>
  Type.Integer({ minimum, maximum: 3_600, default: fallback, description });

const timing = (probe: ProbeTiming, description: string, options: typeof section | typeof closed = section) =>
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
    { ...options, description },
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
    startup: Type.Optional(
      timing(
        STARTUP_PROBE,
        'Asks what liveness asks until it succeeds once, and nothing else asks before; a Pod that does not get there is restarted. Left out: none, as the initial delays of the other two cover the start.',
        closed,
      ),
    ),
  },
  { ...section, description: 'What Kubernetes asks the Pods, and how often.' },
);

/** The probes with their timing filled in. */
export type ProbeSettings = Static<typeof probes>;

interface ProbesPart {
  readonly probes: ProbeSettings;
}

const answersInTime = (probe: 'liveness' | 'readiness' | 'startup'): Rule<ProbesPart> => ({
  reads: [`probes.${probe}`],
  find: ({ probes }) => {
    const { periodSeconds = 0, timeoutSeconds = 0 } = probes[probe] ?? {};
    return timeoutSeconds <= periodSeconds
      ? []
      : [
          {
            path: `probes.${probe}.timeoutSeconds`,
            message: 'is longer than the period, so the next question would come before the answer is due',
            given: timeoutSeconds,
            allowed: `at most probes.${probe}.periodSeconds (${periodSeconds})`,
          },
        ];
  },
});

/** What the timings of the probes must hold. */
export const PROBE_RULES: readonly Rule<ProbesPart>[] = (['liveness', 'readiness', 'startup'] as const).map(
  answersInTime,
);
