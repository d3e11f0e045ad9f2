import type { Rule } from '../settings/check.ts';
import { valueAt } from '../settings/document.ts';
import type { Problem } from '../settings/problem.ts';
import type { ConsumerFile } from './consumer-file.ts';
import { replicaRange } from './replica-range.ts';

const problems = (isWrong: boolean, problem: Problem): Problem[] => (isWrong ? [problem] : []);

const isOneAutoscaler: Rule<ConsumerFile> = {
  reads: ['scaling'],
  find: ({ scaling: { keda, hpa } }) =>
    problems(keda !== undefined && hpa !== undefined, {
      path: 'scaling',
      message: 'has two autoscalers, keda and hpa, and each would undo what the other does',
      allowed: 'one of keda and hpa, or neither: then replicas counts',
    }),
};

const autoscalerKnowsPartitions: Rule<ConsumerFile> = {
  reads: ['scaling', 'partitions'],
  find: ({ scaling, partitions }) =>
    problems((scaling.keda ?? scaling.hpa) !== undefined && partitions === undefined, {
      path: 'partitions',
      message: 'is missing, and an autoscaler has to know beyond how many Pods one would wait idle',
      allowed: 'the number of partitions of all topics together',
    }),
};

const mostIsWithinPartitions: Rule<ConsumerFile> = {
  reads: ['scaling', 'partitions'],
  find: ({ scaling, partitions = Number.POSITIVE_INFINITY }) =>
    (['keda', 'hpa'] as const).flatMap((name) => {
      const given = scaling[name]?.maxReplicas;
      return problems(given !== undefined && given > partitions, {
        path: `scaling.${name}.maxReplicas`,
        message: `is above the number of partitions (${partitions}), and the Pods beyond it would wait idle`,
        given,
        allowed: `at most ${partitions}`,
      });
    }),
};

const leastIsNotAboveMost: Rule<ConsumerFile> = {
  reads: ['scaling', 'partitions'],
  find: ({ scaling, partitions = Number.POSITIVE_INFINITY }) =>
    (['keda', 'hpa'] as const).flatMap((name) => {
      const { minReplicas = 0, maxReplicas = partitions } = scaling[name] ?? {};
      return problems(minReplicas > maxReplicas, {
        path: `scaling.${name}.minReplicas`,
        message: `is above the most that there may be (${maxReplicas})`,
        given: minReplicas,
        allowed: `at most ${maxReplicas}`,
      });
    }),
};

const hpaHasMetric: Rule<ConsumerFile> = {
  reads: ['scaling'],
  find: ({ scaling: { hpa } }) =>
    problems(hpa !== undefined && (hpa.cpuPercent ?? hpa.memoryPercent ?? hpa.external) === undefined, {
      path: 'scaling.hpa',
      message: 'has nothing to scale by',
      allowed: 'at least one of cpuPercent, memoryPercent, external',
    }),
};

const kedaFindsUser: Rule<ConsumerFile> = {
  reads: ['scaling', 'application.kafka.sasl'],
  find: ({ scaling, application }) => {
    const given = valueAt(application, ['kafka', 'sasl', 'username']);
    return problems(scaling.keda !== undefined && given !== undefined, {
      path: 'application.kafka.sasl.username',
      message: 'is out of reach for KEDA, which takes user and password from one Secret',
      given,
      allowed:
        'nothing here, and the user in the Secret kafka.existingSecret under the key username (kafka.keys renames it)',
    });
  },
};

const autoscalerFindsWork: Rule<ConsumerFile> = {
  reads: ['scaling', 'partitions', 'rollout.maxSurge'],
  find: ({ rollout: { maxSurge }, ...file }) => {
    const { most } = replicaRange(file);
    const { partitions = Number.POSITIVE_INFINITY, scaling } = file;
    return problems((scaling.keda ?? scaling.hpa) !== undefined && maxSurge > 0 && most + maxSurge > partitions, {
      path: 'rollout.maxSurge',
      message: `on top of the ${most} Pods that there may be are more than there are partitions (${partitions}): new Pods would own none and prove nothing before old ones end`,
      given: maxSurge,
      allowed: '0, or fewer Pods at most',
    });
  },
};

/** What an autoscaler needs, and what it must not do. */
export const SCALING_RULES: readonly Rule<ConsumerFile>[] = [
  isOneAutoscaler,
  autoscalerKnowsPartitions,
  mostIsWithinPartitions,
  leastIsNotAboveMost,
  hpaHasMetric,
  kedaFindsUser,
  autoscalerFindsWork,
];
