import type { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import type { ConsumerFile } from '../deployment/consumer-file.ts';
import { podMonitor } from './pod-monitor.ts';
import { scrapeConfig } from './prometheus-operator.ts';
import { serviceMonitor } from './service-monitor.ts';

type WayOfScraping = ConsumerFile['monitoring']['scrape'];

const OBJECT: Readonly<
  Record<WayOfScraping, ((scope: Construct, workload: CheckedWorkload) => ApiObject) | undefined>
> = {
  serviceMonitor,
  podMonitor,
  scrapeConfig,
  annotations: undefined,
  none: undefined,
};

/** The custom resource by which the operator scrapes the consumer; `undefined` where `monitoring.scrape` names none. */
export const scrapeObject = (scope: Construct, workload: CheckedWorkload): ApiObject | undefined =>
  OBJECT[workload.file.monitoring.scrape]?.(scope, workload);
