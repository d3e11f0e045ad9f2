import { type ApiObject, Chart, JsonPatch } from 'cdk8s';
import { Construct } from 'constructs';
import { consumerOfProps } from '../deployment/check-consumer.ts';
import { checkedWorkload } from '../deployment/checked-workload.ts';
import { addCommonMetadata } from '../deployment/common-metadata.ts';
import { applyPatches } from '../deployment/patched-objects.ts';
import { isOfMonitoring } from '../deployment/sections/patches.ts';
import type { Workload } from '../deployment/workload.ts';
import { prometheusRule, scrapeObject } from './prometheus-operator.ts';

/** What a {@link StreamConsumerMonitoring} is made from. */
export interface StreamConsumerMonitoringProps {
  /** The `StreamConsumer` to watch. Its own props say how, under `monitoring`. */
  readonly consumer: { readonly workload: Pick<Workload, 'document'> };
}

/**
 * How one consumer is scraped and which alerts watch it, as custom resources of the Prometheus Operator. It may be in
 * the consumer's chart or in another one.
 */
export class StreamConsumerMonitoring extends Construct {
  /**
   * The ServiceMonitor, PodMonitor or ScrapeConfig, as `monitoring.scrape` says; `undefined` where it says
   * `annotations` or `none`.
   */
  readonly scrape: ApiObject | undefined;
  /** The alerts; each names a runbook below `monitoring.runbookBaseUrl`. */
  readonly prometheusRule: ApiObject;

  /**
   * @param scope the chart, or a construct in one
   * @param id unique in the scope; no object's name depends on it
   * @throws InvalidConsumerError when the props of the consumer are wrong, or a patch of these objects fails, as a
   * `StreamConsumer` does
   */
  constructor(scope: Construct, id: string, { consumer: { workload } }: StreamConsumerMonitoringProps) {
    super(scope, id);
    const subject = `StreamConsumerMonitoring ${this.node.path}`;
    const own = checkedWorkload(consumerOfProps(subject, workload.document));
    this.scrape = scrapeObject(this, own);
    this.prometheusRule = prometheusRule(this, own);
    const objects = [this.prometheusRule, ...(this.scrape === undefined ? [] : [this.scrape])];
    addCommonMetadata(own.file, objects);
    applyPatches({
      library: JsonPatch,
      subject,
      patches: own.file.patches,
      objects,
      isOurs: isOfMonitoring,
    });
  }
}

/** The chart with the monitoring of one consumer: monitoring.k8s.yaml. */
export class MonitoringChart extends Chart {
  constructor(scope: Construct, id: string, props: StreamConsumerMonitoringProps) {
    super(scope, id);
    new StreamConsumerMonitoring(this, 'monitoring', props);
  }
}
