import {
  ALERT_LEVELS,
  ALERTS,
  type AlertDefinition,
  type AlertLevel,
  type AlertLevelName,
  type AlertName,
} from '../../contract/alerts.ts';
import type { CheckedWorkload } from '../../deployment/checked-workload.ts';

/**
 * An alert rule in Prometheus' own words; PrometheusRule and the plain file hold the same. `keep_firing_for` needs
 * Prometheus 2.42, and an operator that knows it (0.66).
 */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  /** Time the condition has to hold before the alert fires. */
  readonly for: string;
  /** Time the alert keeps firing after the condition is gone, so that it doesn't flap. */
  readonly keep_firing_for: string;
  /**
   * `severity`, one that the usual routing trees know unless consumer.yaml says otherwise, and the labels that
   * consumer.yaml adds.
   */
  readonly labels: { readonly severity: string; readonly [label: string]: string };
  readonly annotations: {
    /** What is wrong, without values: notifications are grouped by it. */
    readonly summary: string;
    /** What is wrong where, with values. */
    readonly description: string;
    /** Its source is docs/runbooks/<alert>.md. */
    readonly runbook_url: string;
    /** `dashboard_url` where consumer.yaml has a base for it, and the annotations that it adds. */
    readonly [annotation: string]: string;
  };
}

/** A recording rule in Prometheus' own words. */
export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

/** Rules that Prometheus evaluates one after the other, so that an alert sees what was recorded before it. */
export interface RuleGroup {
  readonly name: string;
  readonly interval: string;
  readonly rules: readonly (AlertRule | RecordingRule)[];
}

/** A text that both levels share, or one for each. */
type LevelText = string | ((level: AlertLevelName) => string);

const textOf = (text: LevelText, level: AlertLevelName): string => (typeof text === 'string' ? text : text(level));

/** What an alert looks at and says. */
interface AlertText {
  /** The condition of a level, with its limit. */
  readonly expr: (threshold: number, level: AlertLevelName) => string;
  readonly summary: LevelText;
  readonly description: LevelText;
}

/** A level of an alert as consumer.yaml leaves it. */
interface ChosenLevel extends AlertLevel {
  readonly level: AlertLevelName;
  readonly severity: string;
}

/**
 * The levels of an alert that are on: its defaults, and what consumer.yaml says otherwise. `enabled` of the alert
 * counts for each level that has none itself; false switches all of them off.
 */
export function levelsOf(workload: CheckedWorkload, name: AlertName): ChosenLevel[] {
  const definition: AlertDefinition = ALERTS[name];
  const own = workload.file.monitoring.alerts.rules[name];
  return ALERT_LEVELS.flatMap((level) => {
    const limit = definition[level];
    const { enabled = own?.enabled ?? limit?.isOptional !== true, severity = level, ...changes } = own?.[level] ?? {};
    const isOn = enabled && own?.enabled !== false;
    return limit === undefined || !isOn ? [] : [{ level, severity, ...limit, ...changes }];
  });
}

/** The rules of an alert, one for each level that is on. */
export function alertRules(workload: CheckedWorkload, name: AlertName, text: AlertText): AlertRule[] {
  const { runbookBaseUrl, dashboardUrl, alerts } = workload.file.monitoring;
  const own = alerts.rules[name];
  return levelsOf(workload, name).map((limit) => ({
    alert: name,
    expr: text.expr(limit.threshold, limit.level),
    for: limit.for,
    keep_firing_for: own?.keepFiringFor ?? ALERTS[name].keepFiringFor,
    labels: { severity: limit.severity, ...alerts.labels, ...own?.labels },
    annotations: {
      summary: textOf(text.summary, limit.level),
      description: textOf(text.description, limit.level),
      runbook_url: `${runbookBaseUrl}/${name}.md`,
      ...(dashboardUrl !== undefined && { dashboard_url: dashboardUrl }),
      ...alerts.annotations,
      ...own?.annotations,
    },
  }));
}
