import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import type { CheckedConsumer } from '../deployment/check-consumer.ts';
import { StreamConsumer } from './stream-consumer.ts';

/** What a {@link ConsumerChart} is made from. */
export interface ConsumerChartProps {
  /** consumer.yaml, checked; environments are merged in already. */
  readonly consumer: CheckedConsumer;
}

/** The chart of one consumer.yaml: consumer.k8s.yaml. */
export class ConsumerChart extends Chart {
  readonly consumer: StreamConsumer;

  constructor(scope: Construct, id: string, { consumer }: ConsumerChartProps) {
    super(scope, id);
    this.consumer = new StreamConsumer(this, 'consumer', consumer.document);
  }
}
