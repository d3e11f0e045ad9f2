import type { Rule } from '../settings/check.ts';
import type { ConsumerFile } from './consumer-file.ts';

const answersInTime = (probe: 'liveness' | 'readiness' | 'startup'): Rule<ConsumerFile> => ({
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
export const PROBE_RULES: readonly Rule<ConsumerFile>[] = (['liveness', 'readiness', 'startup'] as const).map(
  answersInTime,
);
