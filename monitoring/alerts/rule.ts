import type { CheckedWorkload } from '../../deployment/checked-workload.ts';

/**
 * Severities that the usual routing trees know; one alert name may have several, and the higher one mutes the lower.
 */
export type Severity = 'warning' | 'critical';

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
  readonly labels: { readonly severity: Severity };
  readonly annotations: {
    /** What is wrong, without values: notifications are grouped by it. */
    readonly summary: string;
    /** What is wrong where, with values. */
    readonly description: string;
    readonly runbook_url: string;
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

/** URL of an alert's runbook; its source is docs/runbooks/<alert>.md. */
export const runbookUrl = ({ file }: CheckedWorkload, alert: string): string =>
  `${file.monitoring.runbookBaseUrl}/${alert}.md`;
