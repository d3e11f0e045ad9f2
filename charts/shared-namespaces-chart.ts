import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import type { CheckedConsumer } from '../deployment/check-consumer.ts';
import { SHARED_LABELS } from '../deployment/checked-workload.ts';
import { namespace } from './namespace.ts';

/** What a {@link SharedNamespacesChart} is made from. */
export interface SharedNamespacesChartProps {
  readonly consumers: readonly CheckedConsumer[];
}

/** The Namespaces of several consumers, each once, unless all that are in it leave it to somebody else. */
export class SharedNamespacesChart extends Chart {
  constructor(scope: Construct, id: string, { consumers }: SharedNamespacesChartProps) {
    super(scope, id);
    const created = consumers.filter(({ file }) => file.namespace.create).map(({ file }) => file.namespace.name);
    for (const name of new Set(created)) {
      namespace(this, { namespace: name, labels: SHARED_LABELS }, name);
    }
  }
}
