import { ALERT_LEVELS, type AlertLevelName, type AlertName } from '../../contract/alerts.ts';
import { METRICS, type MetricDefinition } from '../../contract/metrics.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { levelsOf } from '../alerts/rule.ts';
import { consumerLabel, consumerName, promqlString } from '../alerts/series.ts';

/** The limits of an alert; none where it is off. */
export interface AlertLimits {
  readonly alert: AlertName;
  readonly levels: readonly { readonly level: AlertLevelName; readonly threshold: number }[];
}

type Selector = (metric: Pick<MetricDefinition, 'name'> | string, ...more: readonly string[]) => string;

/** Legend of what {@link DashboardScope.byPod} finds: Grafana writes nothing for a label that is not there. */
export const POD = '{{pod}}{{instance}}';

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
  readonly own: Selector;
  /** The same of all Pods, whichever are chosen: what is about none, or about what Pods share. */
  readonly ofAllPods: Selector;
  /** The same of all topics, whichever are chosen: what is compared with a number that is of no topic. */
  readonly ofAllTopics: Selector;
  /**
   * A value of each Pod. The operator's jobs label a target with its Pod, and plain ones often do not: there
   * Prometheus' own label `instance` distinguishes the Pods. The legend {@link POD} names either.
   *
   * @param query the instant vector of a selector
   * @param more labels to keep beside. @default none
   */
  readonly byPod: (
    aggregation: 'max' | 'sum',
    query: (selector: Selector) => string,
    ...more: readonly string[]
  ) => string;
  /**
   * The limits of an alert: of several consumers the lowest, which fires first.
   *
   * @param scale what a limit counts in, where the panel shows another unit. @default as the alert counts
   */
  readonly limits: (alert: AlertName, scale?: (workload: CheckedWorkload) => number) => AlertLimits;
  /** Time between two scrapes, the longest of all consumers. */
  readonly interval: string;
  /** The time that four scrapes take, for a rate of the present. */
  readonly recently: string;
  /** Matchers of `monitoring.matchers`, which no variable chooses; none by default. */
  readonly matchers: readonly string[];
  /** Matchers of the consumers that are known without any series. */
  readonly known: readonly string[];
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

/** By the labels that each of the consumers has a matcher for: one without it may have any series. */
function sharedMatchers(workloads: ShownConsumers): string[] {
  const all = workloads.flatMap(({ file }) => Object.entries(file.monitoring.matchers));
  const labels = [...new Set(all.map(([label]) => label))];
  return labels.flatMap((label) => {
    const values = all.filter(([name]) => name === label).map(([, value]) => value);
    const [value = '', ...others] = new Set(values);
    const any = [value, ...others].map((each) => each.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
    const matcher = others.length === 0 ? `${label}=${promqlString(value)}` : `${label}=~${promqlString(any)}`;
    return values.length === workloads.length ? [matcher] : [];
  });
}

/** Names of series that have the label `topic`, those of the parts of histograms and summaries included. */
const WITH_TOPIC: ReadonlySet<string> = new Set(
  Object.values<MetricDefinition>(METRICS)
    .filter(({ labels }) => labels.includes('topic'))
    .flatMap(({ name }) => [name, `${name}_bucket`, `${name}_count`, `${name}_sum`]),
);

/** Of all topics it matches series without the label, too. */
const CHOSEN_TOPICS = 'topic=~"$topic"';

/** @param ofPods whether the dashboard has the variable `pod` */
export function dashboardScope(workloads: ShownConsumers, { ofPods }: { readonly ofPods: boolean }): DashboardScope {
  const label = consumerLabel(workloads[0]);
  const matchers = sharedMatchers(workloads);
  const consumer = ['namespace=~"$namespace"', `${label}=~"$consumer"`, ...matchers];
  const selector =
    (chosen: readonly string[], topics = [CHOSEN_TOPICS]): Selector =>
    (metric, ...more) => {
      const name = typeof metric === 'string' ? metric : metric.name;
      return `${name}{${[...chosen, ...(WITH_TOPIC.has(name) ? topics : []), ...more].join(',')}}`;
    };
  const pods = ofPods ? [...consumer, 'pod=~"$pod"'] : consumer;
  const own = selector(pods);
  const seconds = Math.max(...workloads.map(({ file }) => file.monitoring.scrapeIntervalSeconds));
  const anyOf = (values: readonly string[]) => `=~"${[...new Set(values)].join('|')}"`;
  return {
    consumerLabel: label,
    own,
    ofAllPods: selector(consumer),
    ofAllTopics: selector(pods, []),
    byPod: (aggregation, query, ...more) =>
      [
        ['pod', 'pod!=""'],
        ['instance', 'pod=""'],
      ]
        .map(([by = '', matcher = '']) => {
          const values = query((metric, ...others) => own(metric, matcher, ...others));
          return `${aggregation} by (${[by, ...more].join(', ')}) (${values})`;
        })
        .join(' or '),
    limits: (alert, scale = () => 1) => lowestLimits(workloads, alert, scale),
    interval: `${seconds}s`,
    recently: `${4 * seconds}s`,
    matchers,
    known: [
      `namespace${anyOf(workloads.map(({ namespace }) => namespace))}`,
      `${label}${anyOf(workloads.map(consumerName))}`,
    ],
  };
}
