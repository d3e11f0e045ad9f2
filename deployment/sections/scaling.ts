import { type Static, Type } from 'typebox';
import type { Rule } from '../../settings/schema/check.ts';
import { valueAt } from '../../settings/schema/document.ts';
import { problemIf } from '../../settings/schema/problem.ts';
import { ALLOWED, closed, section } from '../../settings/schema/schema.ts';
import { provesPassword } from '../../settings/sections/kafka-sasl.ts';
import { labelMap } from './object-names.ts';

const replicas = (minimum: number, description: string) => ({ minimum, maximum: 1_000, description });

const maxReplicas = Type.Optional(
  Type.Integer(replicas(1, 'Most Pods; not above partitions, since more would wait idle. Left out: partitions.')),
);

/** A rebalance stops the whole group for a moment: it must not follow every wave of the load. */
const behavior = Type.Object(
  {
    scaleUpWindowSeconds: Type.Integer({
      minimum: 0,
      maximum: 3_600,
      default: 60,
      description: 'Time over which the lowest wanted number counts before Pods are added.',
    }),
    scaleDownWindowSeconds: Type.Integer({
      minimum: 0,
      maximum: 3_600,
      default: 600,
      description: 'Time over which the highest wanted number counts before a Pod is taken away.',
    }),
    scaleDownPeriodSeconds: Type.Integer({
      minimum: 1,
      maximum: 1_800,
      default: 300,
      description: 'Time from one Pod that is taken away to the next: each moves partitions.',
    }),
  },
  { ...section, description: 'How fast the number of Pods may change; each change is a rebalance of the group.' },
);

const keda = Type.Object(
  {
    minReplicas: Type.Integer({
      ...replicas(
        0,
        'Fewest Pods. 0 ends the last Pod when there is no lag; metrics and alerts then have nothing to look at.',
      ),
      default: 1,
    }),
    maxReplicas,
    lagPerReplica: Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      // A tenth of a second's work of one Pod. Well below it a rate that is kept up with would look like lag.
      default: 10_000,
      description: 'Records behind that one Pod is for: lag divided by this is the wanted number of Pods.',
    }),
    activationLag: Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      default: 0,
      description: 'Records behind beyond which the first Pod is started; matters only with minReplicas: 0.',
    }),
    pollingIntervalSeconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: 30,
      description: 'Time between two queries of the lag.',
    }),
    cooldownSeconds: Type.Integer({
      minimum: 0,
      maximum: 86_400,
      default: 300,
      description: 'Time without lag after which the last Pod ends; matters only with minReplicas: 0.',
    }),
    behavior,
  },
  { ...closed, description: "KEDA: as many Pods as the group's lag asks for. Left out: not used." },
);

const percent = (what: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      description: `Percent of the requested ${what} to aim at. Left out: does not count.`,
    }),
  );

const external = Type.Object(
  {
    metric: Type.String({
      // The name is a part of a path: Kubernetes refuses / and %, and the names . and .. (ValidatePathSegmentName).
      pattern: '^[A-Za-z0-9_][A-Za-z0-9_.:|-]{0,252}$',
      description: 'Name of a metric that the cluster has an adapter for.',
      [ALLOWED]: 'the name of a metric: letters, digits, and any of _ . : | -, a letter, digit or _ first',
    }),
    labels: labelMap({ default: {}, description: 'Labels that select its series.' }),
    averageValue: Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'Value per Pod to aim at, such as records behind.',
    }),
  },
  { ...closed, description: 'A metric from outside, such as the lag. Left out: does not count.' },
);

const hpa = Type.Object(
  {
    minReplicas: Type.Integer({ ...replicas(1, 'Fewest Pods.'), default: 1 }),
    maxReplicas,
    cpuPercent: percent('CPU'),
    memoryPercent: percent('memory'),
    external: Type.Optional(external),
    behavior,
  },
  { ...closed, description: 'HorizontalPodAutoscaler: by CPU, memory or an external metric. Left out: not used.' },
);

/** Who says how many Pods there are: KEDA, an HPA, or, where neither is given, `replicas`. */
export const scaling = Type.Object({ keda: Type.Optional(keda), hpa: Type.Optional(hpa) }, section);

/** How fast the number of Pods may change. */
export type ScalingBehavior = Static<typeof behavior>;

/** The section with its defaults filled in. */
export type ScalingSettings = Static<typeof scaling>;

/** What says how many Pods there may be. */
interface ReplicasPart {
  readonly replicas: number;
  readonly partitions?: number;
  readonly scaling: ScalingSettings;
}

/** How many Pods there may be. */
interface ReplicaRange {
  readonly least: number;
  readonly most: number;
}

/**
 * Fewest and most Pods: those of KEDA or of the HorizontalPodAutoscaler, else `replicas`. An autoscaler without
 * `maxReplicas` takes `partitions`, which a consumer.yaml with an autoscaler has to have.
 */
export function replicaRange({ replicas, partitions, scaling }: ReplicasPart): ReplicaRange {
  const autoscaler = scaling.keda ?? scaling.hpa;
  return autoscaler === undefined
    ? { least: replicas, most: replicas }
    : { least: autoscaler.minReplicas, most: autoscaler.maxReplicas ?? partitions ?? autoscaler.minReplicas };
}

interface ScalingPart extends ReplicasPart {
  readonly rollout: { readonly maxSurge: number };
  readonly application: unknown;
}

const isOneAutoscaler: Rule<ScalingPart> = {
  reads: ['scaling'],
  find: ({ scaling: { keda, hpa } }) =>
    problemIf(keda !== undefined && hpa !== undefined, {
      path: 'scaling',
      message: 'has two autoscalers, keda and hpa, and each would undo what the other does',
      allowed: 'one of keda and hpa, or neither: then replicas counts',
    }),
};

const autoscalerKnowsPartitions: Rule<ScalingPart> = {
  reads: ['scaling', 'partitions'],
  find: ({ scaling, partitions }) =>
    problemIf((scaling.keda ?? scaling.hpa) !== undefined && partitions === undefined, {
      path: 'partitions',
      message: 'is missing, and an autoscaler has to know beyond how many Pods one would wait idle',
      allowed: 'the number of partitions of all topics together',
    }),
};

type Autoscaler = 'keda' | 'hpa';

const mostIsWithinPartitions = (name: Autoscaler): Rule<ScalingPart> => ({
  reads: [`scaling.${name}.maxReplicas`, 'partitions'],
  find: ({ scaling, partitions = Number.POSITIVE_INFINITY }) => {
    const given = scaling[name]?.maxReplicas;
    return problemIf(given !== undefined && given > partitions, {
      path: `scaling.${name}.maxReplicas`,
      message: `is above the number of partitions (${partitions}), and the Pods beyond it would wait idle`,
      given,
      allowed: `at most ${partitions}`,
    });
  },
});

const leastIsNotAboveMost = (name: Autoscaler): Rule<ScalingPart> => ({
  reads: [`scaling.${name}.minReplicas`, `scaling.${name}.maxReplicas`, 'partitions'],
  find: ({ scaling, partitions = Number.POSITIVE_INFINITY }) => {
    const { minReplicas = 0, maxReplicas = partitions } = scaling[name] ?? {};
    return problemIf(minReplicas > maxReplicas, {
      path: `scaling.${name}.minReplicas`,
      message: `is above the most that there may be (${maxReplicas})`,
      given: minReplicas,
      allowed: `at most ${maxReplicas}`,
    });
  },
});

const hpaHasMetric: Rule<ScalingPart> = {
  reads: ['scaling.hpa'],
  find: ({ scaling: { hpa } }) =>
    problemIf(hpa !== undefined && (hpa.cpuPercent ?? hpa.memoryPercent ?? hpa.external) === undefined, {
      path: 'scaling.hpa',
      message: 'has nothing to scale by',
      allowed: 'at least one of cpuPercent, memoryPercent, external',
    }),
};

const kedaFindsUser: Rule<ScalingPart> = {
  reads: ['scaling.keda', 'application.kafka.sasl.username'],
  find: ({ scaling, application }) => {
    const given = valueAt(application, ['kafka', 'sasl', 'username']);
    return problemIf(scaling.keda !== undefined && given !== undefined, {
      path: 'application.kafka.sasl.username',
      message: 'is out of reach for KEDA, which takes user and password from one Secret',
      given,
      allowed:
        'nothing here, and the user in the Secret kafka.existingSecret under the key username (kafka.keys renames it)',
    });
  },
};

/** KEDA has names for both, but takes the token endpoint from a Secret alone, and the keys at AWS from its own Pod. */
const kedaLogsIn: Rule<ScalingPart> = {
  reads: ['scaling.keda', 'application.kafka.sasl.mechanism'],
  find: ({ scaling, application }) => {
    const mechanism = valueAt(application, ['kafka', 'sasl', 'mechanism']);
    return problemIf(scaling.keda !== undefined && mechanism !== undefined && !provesPassword(mechanism), {
      path: 'scaling.keda',
      message: `is given no login at the brokers by application.kafka.sasl.mechanism: ${String(mechanism)}`,
      allowed: 'plain, scram-sha-256 or scram-sha-512 there, or scaling.hpa with a metric of the lag',
    });
  },
};

/** What KEDA has no word for, and what lies where it cannot read. */
const OUT_OF_REACH: Readonly<Record<string, string>> = {
  ca: 'kafka.tls.ca.existingSecret or kafka.tls.ca.existingConfigMap, which KEDA reads too',
  certificate: 'kafka.tls.clientCertificate.existingSecret, which KEDA reads too',
  serverName: 'nothing here, and brokers whose certificates name their hosts',
  verifyHostName: 'true, and brokers whose certificates name their hosts',
};

const kedaTrusts: Rule<ScalingPart> = {
  reads: ['scaling.keda', 'application.kafka.tls'],
  find: ({ scaling, application }) =>
    Object.entries(OUT_OF_REACH).flatMap(([key, allowed]) => {
      const given = valueAt(application, ['kafka', 'tls', key]);
      return problemIf(scaling.keda !== undefined && given !== undefined && given !== true, {
        path: `application.kafka.tls.${key}`,
        message: 'is out of reach for KEDA, which connects to the brokers itself',
        given,
        allowed: `${allowed}; or scaling.hpa with a metric of the lag`,
      });
    }),
};

const autoscalerFindsWork: Rule<ScalingPart> = {
  reads: ['scaling', 'partitions', 'rollout.maxSurge'],
  find: ({ rollout: { maxSurge }, ...file }) => {
    const { most } = replicaRange(file);
    const { partitions = Number.POSITIVE_INFINITY, scaling } = file;
    return problemIf((scaling.keda ?? scaling.hpa) !== undefined && maxSurge > 0 && most + maxSurge > partitions, {
      path: 'rollout.maxSurge',
      message: `on top of the ${most} Pods that there may be are more than there are partitions (${partitions}): new Pods would own none and prove nothing before old ones end`,
      given: maxSurge,
      allowed: '0, or fewer Pods at most',
    });
  },
};

/** What an autoscaler needs, and what it must not do. */
export const SCALING_RULES: readonly Rule<ScalingPart>[] = [
  isOneAutoscaler,
  autoscalerKnowsPartitions,
  mostIsWithinPartitions('keda'),
  mostIsWithinPartitions('hpa'),
  leastIsNotAboveMost('keda'),
  leastIsNotAboveMost('hpa'),
  hpaHasMetric,
  kedaFindsUser,
  kedaLogsIn,
  kedaTrusts,
  autoscalerFindsWork,
];
