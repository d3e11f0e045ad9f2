import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import type { CheckedConsumer } from '../deployment/check-consumer.ts';
import { SHARED_LABELS } from '../deployment/checked-workload.ts';
import { addCommonMetadata, agreedMetadata } from '../deployment/common-metadata.ts';
import { namespace } from './namespace.ts';
import { StreamConsumer } from './stream-consumer.ts';

// Apart from the construct, whose declaration is the library's: a checked consumer has TypeBox's types.

/** The chart of one consumer.yaml, its environment merged in: consumer.k8s.yaml. */
export class ConsumerChart extends Chart {
  readonly consumer: StreamConsumer;

  constructor(scope: Construct, id: string, { consumer }: { readonly consumer: CheckedConsumer }) {
    super(scope, id);
    this.consumer = new StreamConsumer(this, 'consumer', consumer.document);
  }
}

/** The Namespaces of several consumers, each once, where `namespace.create` is true for one of its consumers. */
export class SharedNamespacesChart extends Chart {
  constructor(scope: Construct, id: string, { consumers }: { readonly consumers: readonly CheckedConsumer[] }) {
    super(scope, id);
    const created = consumers.map(({ file }) => file).filter((file) => file.namespace.create);
    for (const name of new Set(created.map((file) => file.namespace.name))) {
      const made = namespace(this, { namespace: name, labels: SHARED_LABELS }, name);
      addCommonMetadata(agreedMetadata(created.filter((file) => file.namespace.name === name)), [made]);
    }
  }
}
