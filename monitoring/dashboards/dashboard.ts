import {
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import { METRICS } from '../../contract/metrics.ts';
import { DATASOURCE, type RowDefinition, timeSeriesPanel } from './panel.ts';

/** A variable whose values are those of a label. */
interface LabelVariable {
  /** Name in queries: `$namespace`. */
  readonly name: string;
  /** What a person reads. */
  readonly title: string;
  readonly label: string;
  /** Matchers of the variables before it. */
  readonly within: readonly string[];
  /** One value at a time, several of those that are there, or all that can be, series without the label included. */
  readonly choice: 'one' | 'several' | 'any';
}

/** A dashboard. */
export interface DashboardDefinition {
  /** Never changes, since URLs and bookmarks name it. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly LabelVariable[];
  readonly rows: readonly RowDefinition[];
  /** Time between two scrapes. */
  readonly interval: string;
}

/** The SDK writes 42, Grafana 12's; newer ones migrate what says 39, and Grafana 10 reads it. */
const SCHEMA_VERSION = 39;

/** Each process has it from its start on. */
const ALWAYS_THERE = METRICS.retries.name;

function labelVariable({ name, title, label, within, choice }: LabelVariable): QueryVariableBuilder {
  const query = `label_values(${ALWAYS_THERE}${within.length === 0 ? '' : `{${within.join(',')}}`}, ${label})`;
  const variable = new QueryVariableBuilder(name)
    .label(title)
    .datasource(DATASOURCE)
    .query({ query, refId: name })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(choice !== 'one')
    .includeAll(choice !== 'one');
  return choice === 'any' ? variable.allValue('.*') : variable;
}

/** A dashboard as Grafana imports it, always the same bytes. */
export function dashboardJson({ uid, title, description, variables, rows, interval }: DashboardDefinition): string {
  const builder = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([PRODUCT_NAME])
    .readonly()
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .refresh('30s')
    .time({ from: 'now-1h', to: 'now' })
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'));
  for (const variable of variables) {
    builder.withVariable(labelVariable(variable));
  }
  for (const { id, title: rowTitle, panels } of rows) {
    builder.withRow(new RowBuilder(rowTitle).id(id));
    for (const panel of panels) {
      builder.withPanel(timeSeriesPanel(panel, interval));
    }
  }
  return `${JSON.stringify({ ...builder.build(), schemaVersion: SCHEMA_VERSION }, null, 2)}\n`;
}
