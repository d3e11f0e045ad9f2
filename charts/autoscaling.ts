import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { type CheckedWorkload, objectMetadata } from '../deployment/checked-workload.ts';
import type { ConsumerFile } from '../deployment/consumer-file.ts';
import { replicaRange, type ScalingBehavior } from '../deployment/sections/scaling.ts';
import { isTemplate } from '../settings/sections/tables/topic-template.ts';
import { topicsOf } from '../settings/sections/tables.ts';

const SCALE_UP_PERIOD_SECONDS = 60;

/**
 * `behavior` of the HorizontalPodAutoscaler, ours or the one that KEDA creates: doubling upwards, one Pod at a time
 * downwards. The windows keep a short wave of records from moving partitions.
 */
function scalingBehavior({ scaleUpWindowSeconds, scaleDownWindowSeconds, scaleDownPeriodSeconds }: ScalingBehavior) {
  return {
    scaleUp: {
      stabilizationWindowSeconds: scaleUpWindowSeconds,
      selectPolicy: 'Max',
      policies: [
        { type: 'Percent', value: 100, periodSeconds: SCALE_UP_PERIOD_SECONDS },
        { type: 'Pods', value: 1, periodSeconds: SCALE_UP_PERIOD_SECONDS },
      ],
    },
    scaleDown: {
      stabilizationWindowSeconds: scaleDownWindowSeconds,
      selectPolicy: 'Max',
      policies: [{ type: 'Pods', value: 1, periodSeconds: scaleDownPeriodSeconds }],
    },
  };
}

type KedaSettings = NonNullable<ConsumerFile['scaling']['keda']>;

/** Failed queries of the lag in a row after which KEDA falls back to `replicas`, until a query succeeds again. */
const FAILURES_BEFORE_FALLBACK = 3;

/** KEDA's names of the SASL mechanisms that may be used with it. */
const SASL: Readonly<Record<string, string>> = {
  plain: 'plaintext',
  'scram-sha-256': 'scram_sha256',
  'scram-sha-512': 'scram_sha512',
};

/**
 * KEDA asks Kafka for the group's lag. It sees the committed offset, which the consumer keeps close behind the position
 * in PostgreSQL for tools like it. With a topic where it is named: without one a group that never committed has no lag.
 *
 * The topics that templates take wait alone, and another Pod writes nothing of them. So the lag of a partition whose
 * committed offset is the one of the last poll does not count there. The autoscaler has to get what polls found: if it
 * asked as well, it might do so before the consumer has committed again.
 *
 * @param topic `null`: all topics that the group has committed offsets of, for those that templates take
 */
function trigger({ settings: { kafka, consumer } }: CheckedWorkload, keda: KedaSettings, topic: string | null) {
  return {
    type: 'kafka',
    ...(topic === null && { useCachedMetrics: true }),
    metadata: {
      bootstrapServers: kafka.brokers.join(','),
      consumerGroup: kafka.groupId,
      ...(topic !== null && { topic }),
      lagThreshold: String(keda.lagPerReplica),
      activationLagThreshold: String(keda.activationLag),
      offsetResetPolicy: consumer.startFrom === 'latest' ? 'latest' : 'earliest',
      allowIdleConsumers: 'false',
      ...(topic === null && { excludePersistentLag: 'true' }),
      tls: kafka.ssl ? 'enable' : 'disable',
      sasl: kafka.sasl === undefined ? 'none' : String(SASL[kafka.sasl.mechanism]),
    },
  };
}

/** A parameter of KEDA's trigger, and the key that holds it. */
interface TargetReference {
  readonly parameter: string;
  readonly name: string;
  readonly key: string;
}

const targets = (parameters: Readonly<Record<string, string>>, name: string | undefined): TargetReference[] =>
  name === undefined ? [] : Object.entries(parameters).map(([parameter, key]) => ({ parameter, name, key }));

type BrokerAccess = NonNullable<ConsumerFile['kafka']>;

/** By where they are: what KEDA calls the login, the client's certificate and the authorities. */
function targetReferences({ existingSecret, keys, tls = {} }: BrokerAccess) {
  const { ca, clientCertificate } = tls;
  const { username, password } = keys;
  return {
    secretTargetRef: [
      ...targets({ username, password }, existingSecret),
      ...(clientCertificate === undefined
        ? []
        : targets(
            { cert: clientCertificate.keys.certificate, key: clientCertificate.keys.privateKey },
            clientCertificate.existingSecret,
          )),
      ...(ca === undefined ? [] : targets({ ca: ca.key }, ca.existingSecret)),
    ],
    configMapTargetRef: ca === undefined ? [] : targets({ ca: ca.key }, ca.existingConfigMap),
  };
}

/** Lets KEDA read the brokers' credentials and certificates where the consumer reads them. */
export function triggerAuthentication(scope: Construct, workload: CheckedWorkload, kafka: BrokerAccess): ApiObject {
  const references = Object.entries(targetReferences(kafka)).filter(([, list]) => list.length > 0);
  return new ApiObject(scope, 'trigger-authentication', {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'TriggerAuthentication',
    metadata: objectMetadata(workload, workload.names.workload),
    spec: Object.fromEntries(references),
  });
}

/** Whether there is anything for KEDA to read. */
export const hasBrokerAccess = ({ existingSecret, tls }: BrokerAccess): boolean =>
  (existingSecret ?? tls?.ca ?? tls?.clientCertificate) !== undefined;

/** The topics that are named, and one trigger for all others where there are templates. */
function triggeringTopics(settings: CheckedWorkload['settings']): readonly (string | null)[] {
  const texts = topicsOf(settings);
  const names = texts.filter((text) => !isTemplate(text));
  return names.length < texts.length ? [...names, null] : names;
}

/** As many Pods as the lag asks for, up to one per partition; the Deployment then has no number of replicas. */
export function scaledObject(scope: Construct, workload: CheckedWorkload, keda: KedaSettings): ApiObject {
  const { file, names, settings } = workload;
  const { least, most } = replicaRange(file);
  const isAsked = file.kafka !== undefined && hasBrokerAccess(file.kafka);
  const authentication = isAsked ? { authenticationRef: { name: names.workload } } : {};
  return new ApiObject(scope, 'scaled-object', {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    metadata: objectMetadata(workload, names.workload),
    spec: {
      scaleTargetRef: { name: names.workload },
      minReplicaCount: least,
      maxReplicaCount: most,
      pollingInterval: keda.pollingIntervalSeconds,
      cooldownPeriod: keda.cooldownSeconds,
      fallback: {
        failureThreshold: FAILURES_BEFORE_FALLBACK,
        replicas: Math.min(Math.max(file.replicas, least), most),
      },
      advanced: { horizontalPodAutoscalerConfig: { behavior: scalingBehavior(keda.behavior) } },
      triggers: triggeringTopics(settings).map((topic) => ({ ...trigger(workload, keda, topic), ...authentication })),
    },
  });
}

type HpaSettings = NonNullable<ConsumerFile['scaling']['hpa']>;

const utilization = (name: 'cpu' | 'memory', averageUtilization: number | undefined): k8s.MetricSpecV2[] =>
  averageUtilization === undefined
    ? []
    : [{ type: 'Resource', resource: { name, target: { type: 'Utilization', averageUtilization } } }];

function externalMetric(external: HpaSettings['external']): k8s.MetricSpecV2[] {
  if (external === undefined) {
    return [];
  }
  const { metric, labels, averageValue } = external;
  const selector = Object.keys(labels).length === 0 ? {} : { selector: { matchLabels: labels } };
  const target = { type: 'AverageValue', averageValue: k8s.Quantity.fromString(String(averageValue)) };
  return [{ type: 'External', external: { metric: { name: metric, ...selector }, target } }];
}

/** Kubernetes' own autoscaler; the Deployment then has no number of replicas, which an apply would reset. */
export function horizontalPodAutoscaler(scope: Construct, workload: CheckedWorkload, hpa: HpaSettings): ApiObject {
  const { least, most } = replicaRange(workload.file);
  return new ApiObject(
    scope,
    'horizontal-pod-autoscaler',
    k8s.KubeHorizontalPodAutoscalerV2.manifest({
      metadata: objectMetadata(workload, workload.names.workload),
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: workload.names.workload },
        minReplicas: least,
        maxReplicas: most,
        metrics: [
          ...utilization('cpu', hpa.cpuPercent),
          ...utilization('memory', hpa.memoryPercent),
          ...externalMetric(hpa.external),
        ],
        behavior: scalingBehavior(hpa.behavior),
      },
    }),
  );
}
