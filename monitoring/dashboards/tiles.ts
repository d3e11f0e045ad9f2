import {
  BigValueColorMode,
  BigValueGraphMode,
  BigValueTextMode,
  ReduceDataOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { HEALTH_STATUS_CODE } from '../../contract/metrics/definition.ts';
import { METRICS } from '../../contract/metrics.ts';
import { DATASOURCE, described, type PanelDefinition, queryOf, type RowDefinition, thresholds } from './panel.ts';
import { type DashboardScope, POD } from './scope.ts';

const HEIGHT = 5;
const WIDE = 8;
const NARROW = 4;

const NOT_KNOWN = 'not known';

/** Tiles as Grafana's model has them. */
export function tilePanel(
  panel: PanelDefinition & Required<Pick<PanelDefinition, 'tile'>>,
  interval: string,
): PanelBuilder {
  const { queries, limits, colors = {}, tile } = panel;
  const isLegend = tile.shows === 'legend';
  const builder = new PanelBuilder()
    .id(panel.id)
    .title(panel.title)
    .description(described(panel))
    .datasource(DATASOURCE)
    .unit(panel.unit)
    .noValue(tile.nothing)
    .span(panel.width ?? NARROW)
    .height(HEIGHT)
    .colorMode(isLegend ? BigValueColorMode.Background : BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .textMode(isLegend ? BigValueTextMode.Name : BigValueTextMode.Value)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .thresholds(thresholds(limits, tile.color))
    .targets(Object.entries(queries).map(([legend, expr], nth) => queryOf(expr, legend, nth, interval).instant()));
  for (const [ending, color] of Object.entries(colors)) {
    builder.overrideByRegexp(`/${ending}$/`, [{ id: 'color', value: { mode: 'fixed', fixedColor: color } }]);
  }
  return builder;
}

/**
 * Each finds series only while something is wrong. A partition without a known lag is in no other number of this row.
 */
function troubles({ own, ofAllPods, byPod }: DashboardScope): Readonly<Record<string, string>> {
  const partitions = `max by (topic) (${ofAllPods(METRICS.topicPartitions)})`;
  const known = `count by (topic) (count by (topic, partition) (${ofAllPods(METRICS.recordsLag)}))`;
  const waiting = `max by (topic) (${ofAllPods(METRICS.topicsWaiting)})`;
  return {
    '{{alertname}} {{topic}} {{severity}}': `max by (alertname, topic, severity) (${ofAllPods('ALERTS', 'alertstate="firing"')})`,
    '{{component}} is not UP': `min by (component) (${own(METRICS.health)}) < ${HEALTH_STATUS_CODE.UP}`,
    [`${POD} could not be scraped`]: byPod('max', (selector) => `${selector('up')} == 0`),
    'Prometheus has no Pod to scrape': `absent(${ofAllPods('up')})`,
    '{{topic}}: the lag of some partitions is not known': `${partitions} - (${known} or ${partitions} * 0) > 0 unless ${waiting} > 0`,
    '{{topic}} waits alone': `${waiting} == 1`,
    '{{topic}}: dead letters within 5 minutes': `sum by (topic) (increase(${own(METRICS.deadLetters)}[5m])) > 0`,
  };
}

/** What the person on call looks at first. */
export const firstRow = (scope: DashboardScope): RowDefinition => ({
  id: 800,
  title: 'Now',
  panels: [whatIsWrong(scope), ...firstFigures(scope), versions(scope)],
});

function whatIsWrong(scope: DashboardScope): PanelDefinition {
  const wrong = troubles(scope);
  const anything = Object.values(wrong).map((query) => `(${query})`);
  return {
    id: 71,
    title: 'What is wrong',
    description:
      'Alerts that fire, and what is broken now, as the Pods and Prometheus report it. An alert fires some minutes longer than its cause lasts; a sentence describes the state of now.',
    unit: 'short',
    queries: { ...wrong, 'nothing that is known': `vector(1) unless on () (${anything.join(' or ')})` },
    width: WIDE,
    colors: { 'nothing that is known': 'green', warning: 'orange', 'dead letters within 5 minutes': 'orange' },
    tile: { shows: 'legend', nothing: NOT_KNOWN, color: 'red' },
  };
}

const firstFigures = ({ own, limits, recently }: DashboardScope): readonly PanelDefinition[] => [
  {
    id: 72,
    title: 'Lag',
    description: 'Records that PostgreSQL does not have yet, of the topic for which it is most, as far as it is known.',
    unit: 'short',
    queries: { lag: `max(sum by (topic) (max by (topic, partition) (${own(METRICS.recordsLag)})))` },
    limits: limits('ConsumerLagHigh'),
    tile: { shows: 'value', nothing: NOT_KNOWN, color: 'green' },
  },
  {
    id: 73,
    title: 'Age',
    description: 'How long the oldest record waits that PostgreSQL does not have yet; 0 without lag.',
    unit: 's',
    queries: { age: `max(${own(METRICS.lagSeconds)})` },
    limits: limits('ConsumerLagTime'),
    tile: { shows: 'value', nothing: NOT_KNOWN, color: 'green' },
  },
  {
    id: 74,
    title: 'Rate',
    description:
      'Records per second that were committed in PostgreSQL during the last four scrapes, dead letters included.',
    unit: 'mps',
    queries: { rate: `sum(rate(${own(`${METRICS.batchRecords.name}_sum`)}[${recently}]))` },
    tile: { shows: 'value', nothing: NOT_KNOWN, color: 'blue' },
  },
];

const versions = ({ own }: DashboardScope): PanelDefinition => ({
  id: 75,
  title: 'Version',
  description: 'Version and commit of the Pods; several of them are a rolling update that goes on, or stopped halfway.',
  unit: 'short',
  queries: { '{{version}} {{commit}}': `count by (version, commit) (${own(METRICS.buildInfo)})` },
  tile: { shows: 'legend', nothing: NOT_KNOWN, color: 'blue' },
});
