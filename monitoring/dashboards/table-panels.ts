import { METRICS } from '../../contract/metrics.ts';
import { HALF, type RowDefinition } from './panel.ts';
import type { DashboardScope } from './scope.ts';

/** What becomes of records in tables of the user's own; empty where there are none. */
export const tables = ({ own }: DashboardScope): RowDefinition => ({
  id: 650,
  title: 'Tables of your own',
  panels: [
    {
      id: 54,
      title: 'Records by table and operation',
      description:
        'Records per second that were committed there: appended, upserted, deleted, or skipped as they need no row. Dead letters are none of these.',
      unit: 'cps',
      queries: {
        '{{table}} {{operation}}': `sum by (table, operation) (rate(${own(METRICS.tableRecords)}[$__rate_interval])) > 0`,
      },
      width: HALF,
    },
    {
      id: 55,
      title: 'Dead letters by table and column',
      description:
        'Records per second that a table refused, by the column at fault where it is known. The first letter of a column is not seen, as it begins the series.',
      unit: 'cps',
      queries: {
        '{{table}} {{column}}': `sum by (table, column) (rate(${own(METRICS.tableDeadLetters)}[$__rate_interval])) > 0`,
      },
    },
    {
      id: 56,
      title: 'Fields without a column',
      description:
        'Fields per second that no table of their topic takes, by topic; the log has their names. More of them at once: a producer has renamed one, or has a new one.',
      unit: 'cps',
      queries: { '{{topic}}': `sum by (topic) (rate(${own(METRICS.unmappedFields)}[$__rate_interval]))` },
    },
    {
      id: 60,
      title: 'Records that no table takes',
      description:
        'Records per second that the when of no table of their topic matches, by topic; they are in no table. More of them at once: a producer has a new type of record, or a condition is wrong.',
      unit: 'cps',
      queries: { '{{topic}}': `sum by (topic) (rate(${own(METRICS.unmatchedRecords)}[$__rate_interval]))` },
    },
  ],
});
