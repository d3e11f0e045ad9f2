import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { StreamConsumerMonitoring, type StreamConsumerMonitoringProps } from './stream-consumer-monitoring.ts';

/** The chart of what watches one consumer: monitoring.k8s.yaml. */
export class MonitoringChart extends Chart {
  constructor(scope: Construct, id: string, props: StreamConsumerMonitoringProps) {
    super(scope, id);
    new StreamConsumerMonitoring(this, 'monitoring', props);
  }
}
