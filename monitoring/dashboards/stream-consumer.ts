import { dashboardJson, topicVariable } from './dashboard.ts';
import { onCallRows } from './on-call-panels.ts';
import { dashboardScope, type ShownConsumers } from './scope.ts';
import { specifiedPanels } from './specified-panels.ts';
import { firstRow } from './tiles.ts';

export const STREAM_CONSUMER_UID = 'stream-consumer';

/** One consumer: what is now, what is specified, then what the person on call asks. */
export function streamConsumerDashboard(workloads: ShownConsumers): string {
  const scope = dashboardScope(workloads, { ofPods: true });
  const inNamespace = 'namespace=~"$namespace"';
  const ofConsumer = `${scope.consumerLabel}=~"$consumer"`;
  return dashboardJson({
    uid: STREAM_CONSUMER_UID,
    title: 'Stream consumer',
    description: 'One consumer that writes records of Kafka into PostgreSQL.',
    variables: [
      { name: 'namespace', title: 'Namespace', label: 'namespace', within: [], choice: 'one' },
      { name: 'consumer', title: 'Consumer', label: scope.consumerLabel, within: [inNamespace], choice: 'one' },
      { name: 'pod', title: 'Pod', label: 'pod', within: [inNamespace, ofConsumer], choice: 'any' },
      topicVariable([inNamespace, ofConsumer, 'pod=~"$pod"']),
    ],
    rows: [firstRow(scope), specifiedPanels(scope), ...onCallRows(scope)],
    scope,
  });
}
