import {
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { AlertName } from '../../contract/alerts.ts';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import { METRICS, type MetricDefinition } from '../../contract/metrics.ts';
import { contentHash } from '../../deployment/sections/object-names.ts';
import { DATASOURCE, type PanelDefinition, type RowDefinition, timeSeriesPanel } from './panel.ts';
import type { DashboardScope } from './scope.ts';
import { tilePanel } from './tiles.ts';

/** A variable whose values are those of a label. */
interface LabelVariable {
  /** Name in queries: `$namespace`. */
  readonly name: string;
  /** What a person reads. */
  readonly title: string;
  readonly label: string;
  /** Matchers of the variables before it. */
  readonly within: readonly string[];
  /** Metrics that have the label. @default what each process has from its start on, and what an absent one has */
  readonly metrics?: readonly MetricDefinition[];
  /** One value at a time, several of those that are there, or all that can be, series without the label included. */
  readonly choice: 'one' | 'several' | 'any';
}

/** A dashboard. */
export interface DashboardDefinition {
  /** Never changes, since URLs and bookmarks name it; {@link dashboardUid} adds to it. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly LabelVariable[];
  readonly rows: readonly RowDefinition[];
  readonly scope: Pick<DashboardScope, 'interval' | 'known' | 'matchers'>;
}

/** The SDK writes 42, Grafana 12's; newer ones migrate what says 39, and Grafana 10 reads it. */
const SCHEMA_VERSION = 39;

/** The topics that are read, that wait, or that have dead letters. */
export const topicVariable = (within: readonly string[]): LabelVariable => ({
  name: 'topic',
  title: 'Topic',
  label: 'topic',
  within,
  metrics: [METRICS.topicPartitions, METRICS.topicsWaiting, METRICS.deadLettersWaiting],
  choice: 'any',
});

/** Each process has it from its start on. */
const ALWAYS_THERE = METRICS.retries.name;

const ABSENT: AlertName = 'ConsumerAbsent';

/**
 * Values within the time range of the label, of all processes that Prometheus has scraped. A consumer that was never
 * scraped is chosen by another series: `up` of those that were synthesized together with the dashboard, which is 0
 * while scrapes fail, and the alert of one without any target.
 */
function labelVariable(
  { name, title, label, within, metrics, choice }: LabelVariable,
  { known, matchers }: DashboardDefinition['scope'],
): QueryVariableBuilder {
  const seen = (metric: string, ...more: readonly string[]) =>
    `last_over_time(${metric}{${[...within, ...matchers, ...more].join(',')}}[$__range])`;
  const ofProcesses = [seen(ALWAYS_THERE), seen('up', ...known), seen('ALERTS', `alertname="${ABSENT}"`)];
  const series = metrics === undefined ? ofProcesses : metrics.map((metric) => seen(metric.name));
  const query = `query_result(group by (${label}) (${series.join(' or ')}))`;
  const variable = new QueryVariableBuilder(name)
    .label(title)
    .datasource(DATASOURCE)
    .query({ query, refId: name })
    .definition(query)
    .regex(`/${label}="([^"]+)"/`)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(choice !== 'one')
    .includeAll(choice !== 'one');
  return choice === 'any' ? variable.allValue('.*') : variable;
}

const panelOf = ({ tile, ...panel }: PanelDefinition, interval: string) =>
  tile === undefined ? timeSeriesPanel(panel, interval) : tilePanel({ ...panel, tile }, interval);

/** Two clusters' dashboards in one Grafana would be one dashboard under one uid. */
export const dashboardUid = (uid: string, { matchers }: Pick<DashboardScope, 'matchers'>): string =>
  matchers.length === 0 ? uid : `${uid}-${contentHash(matchers.join(','))}`;

/** A dashboard as Grafana imports it, always the same bytes. */
export function dashboardJson({ uid, title, description, variables, rows, scope }: DashboardDefinition): string {
  const { matchers } = scope;
  const builder = new DashboardBuilder(matchers.length === 0 ? title : `${title} {${matchers.join(',')}}`)
    .uid(dashboardUid(uid, scope))
    .description(description)
    .tags([PRODUCT_NAME])
    .readonly()
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .refresh('30s')
    .time({ from: 'now-1h', to: 'now' })
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'));
  for (const variable of variables) {
    builder.withVariable(labelVariable(variable, scope));
  }
  for (const { id, title: rowTitle, panels } of rows) {
    builder.withRow(new RowBuilder(rowTitle).id(id));
    for (const panel of panels) {
      builder.withPanel(panelOf(panel, scope.interval));
    }
  }
  return `${JSON.stringify({ ...builder.build(), schemaVersion: SCHEMA_VERSION }, null, 2)}\n`;
}
