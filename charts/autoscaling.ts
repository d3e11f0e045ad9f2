import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { type CheckedWorkload, objectMetadata } from '../deployment/checked-workload.ts';
import type { ConsumerFile } from '../deployment/consumer-file.ts';
import { replicaRange } from '../deployment/scaling.ts';
import { scalingBehavior } from './scaling-behavior.ts';

type KedaSettings = NonNullable<ConsumerFile['scaling']['keda']>;

/** Failed looks at the lag in a row after which there are as many Pods as `replicas` says, until it can be seen again. */
const FAILURES_BEFORE_FALLBACK = 3;

/** KEDA's words for the mechanisms. */
const SASL = {
  plain: 'plaintext',
  'scram-sha-256': 'scram_sha256',
  'scram-sha-512': 'scram_sha512',
} as const;

/**
 * KEDA asks Kafka for the group's lag. It sees the committed offset, which the consumer keeps close behind the position
 * in PostgreSQL for just such tools. Always with a topic: without one a group that never committed has no lag.
 */
function trigger({ settings: { kafka, consumer } }: CheckedWorkload, keda: KedaSettings, topic: string) {
  return {
    type: 'kafka',
    metadata: {
      bootstrapServers: kafka.brokers.join(','),
      consumerGroup: kafka.groupId,
      topic,
      lagThreshold: String(keda.lagPerReplica),
      activationLagThreshold: String(keda.activationLag),
      offsetResetPolicy: consumer.startFrom === 'latest' ? 'latest' : 'earliest',
      allowIdleConsumers: 'false',
      tls: kafka.ssl ? 'enable' : 'disable',
      sasl: kafka.sasl === undefined ? 'none' : SASL[kafka.sasl.mechanism],
    },
  };
}

/** Lets KEDA read the brokers' credentials where the consumer reads them. */
export function triggerAuthentication(
  scope: Construct,
  workload: CheckedWorkload,
  { existingSecret, keys }: NonNullable<ConsumerFile['kafka']>,
): ApiObject {
  return new ApiObject(scope, 'trigger-authentication', {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'TriggerAuthentication',
    metadata: objectMetadata(workload, workload.names.workload),
    spec: {
      secretTargetRef: (['username', 'password'] as const).map((parameter) => ({
        parameter,
        name: existingSecret,
        key: keys[parameter],
      })),
    },
  });
}

/** As many Pods as the lag asks for, up to one per partition; the Deployment then has no number of replicas. */
export function scaledObject(scope: Construct, workload: CheckedWorkload, keda: KedaSettings): ApiObject {
  const { file, names, settings } = workload;
  const { least, most } = replicaRange(file);
  const authentication = file.kafka === undefined ? {} : { authenticationRef: { name: names.workload } };
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
      triggers: settings.kafka.topics.map((topic) => ({ ...trigger(workload, keda, topic), ...authentication })),
    },
  });
}
