import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import type { CheckedConsumer } from '../contract/check-consumer-file.ts';
import { workload } from '../contract/workload.ts';
import { prometheusRule } from './prometheus-rule.ts';
import { serviceMonitor } from './service-monitor.ts';

/** What a {@link MonitoringChart} is made from. */
export interface MonitoringChartProps {
  /** consumer.yaml, checked; environments are merged in already. */
  readonly consumer: CheckedConsumer;
  /** The package's version. */
  readonly version: string;
}

/** The Prometheus Operator's custom resources of one consumer: ServiceMonitor and PrometheusRule. */
export class MonitoringChart extends Chart {
  constructor(scope: Construct, id: string, { consumer, version }: MonitoringChartProps) {
    super(scope, id);
    const own = workload(consumer, version);
    serviceMonitor(this, own);
    prometheusRule(this, own);
  }
}
