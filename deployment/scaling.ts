import { type Static, Type } from 'typebox';
import { ALLOWED } from '../settings/schema.ts';
import { closed, section } from '../settings/section.ts';
import { labelMap } from './label-map.ts';

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
      default: 1_000,
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
      pattern: '^[A-Za-z0-9_.:/|-]{1,253}$',
      description: 'Name of a metric that the cluster has an adapter for.',
      [ALLOWED]: 'the name of a metric: letters, digits, and any of _ . : / | -',
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
