import { ALERT_LEVELS, type AlertLevelName, type AlertName } from '../../contract/alerts.ts';
import type { MetricDefinition } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { levelsOf } from '../alerts/rule.ts';
import { consumerLabel } from '../alerts/series.ts';

/** The limits of an alert; none where it is off. */
export interface AlertLimits {
  readonly alert: AlertName;
  readonly levels: readonly { readonly level: AlertLevelName; readonly threshold: number }[];
}

/** What the panels of a dashboard ask for, and by which limits they judge. */
export interface DashboardScope {
  /** Label whose value is the consumer's name. */
  readonly consumerLabel: string;
  /**
   * PromQL selector of what the variables of the dashboard choose.
   *
   * @param metric a metric of the catalogue, or the name of one of Prometheus' own or of a part of a histogram
   * @param more matchers of the metric's own labels. @default all its series
   */
  readonly own: (metric: Pick<MetricDefinition, 'name'> | string, ...more: readonly string[]) => string;
  /**
   * The limits of an alert: of several consumers the lowest, which fires first.
   *
   * @param scale what a limit counts in, where the panel shows another unit. @default as the alert counts
   */
  readonly limits: (alert: AlertName, scale?: (workload: CheckedWorkload) => number) => AlertLimits;
  /** Time between two scrapes, the longest of all consumers. */
  readonly interval: string;
}

/** Consumers that one dashboard shows; there is at least one. */
export type ShownConsumers = readonly [CheckedWorkload, ...CheckedWorkload[]];

function lowestLimits(
  workloads: ShownConsumers,
  alert: AlertName,
  scale: (workload: CheckedWorkload) => number,
): AlertLimits {
  const limits = workloads.flatMap((workload) =>
    levelsOf(workload, alert).map(({ level, threshold }) => ({ level, threshold: threshold * scale(workload) })),
  );
  return {
    alert,
    levels: ALERT_LEVELS.flatMap((level) => {
      const own = limits.filter((limit) => limit.level === level).map(({ threshold }) => threshold);
      return own.length === 0 ? [] : [{ level, threshold: Math.min(...own) }];
    }),
  };
}

/** @param ofPods whether the dashboard has the variable `pod` */
export function dashboardScope(workloads: ShownConsumers, { ofPods }: { readonly ofPods: boolean }): DashboardScope {
  const label = consumerLabel(workloads[0]);
  const matchers = ['namespace=~"$namespace"', `${label}=~"$consumer"`, ...(ofPods ? ['pod=~"$pod"'] : [])];
  return {
    consumerLabel: label,
    own: (metric, ...more) =>
      `${typeof metric === 'string' ? metric : metric.name}{${[...matchers, ...more].join(',')}}`,
    limits: (alert, scale = () => 1) => lowestLimits(workloads, alert, scale),
    interval: `${Math.max(...workloads.map(({ file }) => file.monitoring.scrapeIntervalSeconds))}s`,
  };
}
