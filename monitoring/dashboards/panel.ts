import {
  GraphDrawStyle,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  DashboardLinkBuilder,
  MappingType,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import type { AlertLevelName } from '../../contract/alerts.ts';
import type { AlertLimits } from './scope.ts';

/** Chosen in the dashboard: one Grafana may have several Prometheus. */
export const DATASOURCE = { type: 'prometheus', uid: '$datasource' };

/** Of the 24 columns of a dashboard. */
export const HALF = 12;
const QUARTER = 6;
const HEIGHT = 8;

/** Of a level's limit, and of its alerts. */
export const LEVEL_COLORS: Readonly<Record<AlertLevelName, string>> = { warning: 'orange', critical: 'red' };

/** One panel: series over time, or tiles of what is now. */
export interface PanelDefinition {
  /** Never changes, since links name it. */
  readonly id: number;
  readonly title: string;
  /** What is shown, and what to think of it. */
  readonly description: string;
  /** Grafana's identifier of the unit. */
  readonly unit: string;
  /** PromQL by the legend of its series, where `{{label}}` is the value of a label. */
  readonly queries: Readonly<Record<string, string>>;
  /** Drawn as lines. @default none */
  readonly limits?: AlertLimits;
  /** Columns. @default a quarter of the width */
  readonly width?: number;
  /** Bars on top of each other in the place of lines. @default false */
  readonly isStacked?: boolean;
  /** Words in the place of values. @default none */
  readonly words?: Readonly<Record<number, string>>;
  /** Colours of series by the end of their legends. @default Grafana's palette */
  readonly colors?: Readonly<Record<string, string>>;
  /** A tile for each series with its present state, in the place of lines over time. @default lines */
  readonly tile?: {
    /** What a tile shows of its series. */
    readonly shows: 'legend' | 'value';
    /** What it shows where there is no series. */
    readonly nothing: string;
    /** Colour of what is below the first limit, or of all where there are none. */
    readonly color: string;
  };
  /** Where a click on a series leads to. @default nowhere */
  readonly link?: { readonly title: string; readonly url: string };
}

/** Panels under a title. */
export interface RowDefinition {
  /** Never changes. */
  readonly id: number;
  readonly title: string;
  readonly panels: readonly PanelDefinition[];
}

/** @param color below the lowest limit. @default green */
export function thresholds(limits: AlertLimits | undefined, color = 'green'): ThresholdsConfigBuilder {
  const steps: Threshold[] = (limits?.levels ?? []).map(({ level, threshold }) => ({
    value: threshold,
    color: LEVEL_COLORS[level],
  }));
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color }, ...steps.toSorted((one, other) => Number(one.value) - Number(other.value))]);
}

/** @param interval the shortest step, which is the time between two scrapes: `$__rate_interval` is four of them */
export const queryOf = (expr: string, legend: string, nth: number, interval: string): DataqueryBuilder =>
  new DataqueryBuilder()
    .datasource(DATASOURCE)
    .refId(String.fromCharCode('A'.charCodeAt(0) + nth))
    .expr(expr)
    .legendFormat(legend)
    .interval(interval);

export function described({ description, limits }: PanelDefinition): string {
  return limits === undefined || limits.levels.length === 0
    ? description
    : `${description} Lines: the limits of the alert ${limits.alert}.`;
}

function basicPanel(panel: PanelDefinition): PanelBuilder {
  return new PanelBuilder()
    .id(panel.id)
    .title(panel.title)
    .description(described(panel))
    .datasource(DATASOURCE)
    .unit(panel.unit)
    .min(0)
    .span(panel.width ?? QUARTER)
    .height(HEIGHT)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi));
}

/** A panel as Grafana's model has it. */
export function timeSeriesPanel(panel: PanelDefinition, interval: string): PanelBuilder {
  const { queries, limits, isStacked = false, colors = {}, words, link } = panel;
  const builder = basicPanel(panel).targets(
    Object.entries(queries).map(([legend, expr], nth) => queryOf(expr, legend, nth, interval).range()),
  );
  if (isStacked) {
    builder
      .drawStyle(GraphDrawStyle.Bars)
      .fillOpacity(80)
      .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));
  } else {
    builder.drawStyle(GraphDrawStyle.Line).lineWidth(1).fillOpacity(8);
  }
  if (limits !== undefined && limits.levels.length > 0) {
    builder
      .thresholds(thresholds(limits))
      .thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed));
  }
  for (const [ending, color] of Object.entries(colors)) {
    builder.overrideByRegexp(`/${ending}$/`, [{ id: 'color', value: { mode: 'fixed', fixedColor: color } }]);
  }
  if (words !== undefined) {
    const options = Object.entries(words).map(([value, text]) => [value, { text, index: Number(value) }]);
    builder.mappings([{ type: MappingType.ValueToText, options: Object.fromEntries(options) }]);
  }
  return link === undefined ? builder : builder.dataLinks([new DashboardLinkBuilder(link.title).url(link.url)]);
}
