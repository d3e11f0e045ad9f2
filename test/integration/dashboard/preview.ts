import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Dashboard, Panel } from '../../monitoring/dashboards/dashboard-model.ts';
import type { FoundRange, TimeRange } from '../stack/prometheus-server.ts';

const WIDTH = 1_440;
const COLUMNS = 24;
const ROW_HEIGHT = 30;
const TOP = 56;

/** A query of a panel with what it found. */
export interface Answer {
  readonly legendFormat: string;
  readonly series: readonly FoundRange[];
}

/** A picture of a dashboard, or of a part of it. */
interface Picture {
  /** File to write, a PNG. */
  readonly path: string;
  readonly dashboard: Dashboard;
  /** What the queries of each panel found, by the panel's id. */
  readonly answers: ReadonlyMap<number, readonly Answer[]>;
  readonly range: TimeRange;
  readonly caption: string;
  /** Rows of the grid that it shows. @default the whole dashboard */
  readonly from?: number;
  readonly until?: number;
}

const legendOf = (format: string, labels: Readonly<Record<string, string>>): string =>
  format.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? '');

/** Values at each step; null where there is none. */
function valuesAt({ start, end, step }: TimeRange, { values }: FoundRange): (number | null)[] {
  const known = new Map(values.map(([time, value]) => [Math.round((time - start) / step), Number(value)]));
  return Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, nth) => {
    const value = known.get(nth) ?? Number.NaN;
    return Number.isFinite(value) ? value : null;
  });
}

function drawable({ id, type, title, gridPos, options, fieldConfig }: Panel, { answers, range }: Picture) {
  const { unit, custom, noValue, mappings, thresholds } = fieldConfig.defaults;
  return {
    title,
    gridPos,
    unit,
    words: mappings?.[0]?.options,
    tile:
      type === 'stat' ? { shows: options?.textMode, nothing: noValue, color: thresholds?.steps[0]?.color } : undefined,
    isStacked: custom?.drawStyle === 'bars',
    colors: fieldConfig.overrides.map(({ matcher, properties }) => ({
      ending: matcher.options.slice(1, -1),
      color: properties[0]?.value.fixedColor,
    })),
    limits: (thresholds?.steps ?? []).filter(({ value }) => value !== null),
    series: (answers.get(id) ?? []).flatMap(({ legendFormat, series }) =>
      series.map((one) => ({ legend: legendOf(legendFormat, one.metric), values: valuesAt(range, one) })),
    ),
  };
}

/** The page that draws the picture, and its height. */
function page(picture: Picture): { readonly html: string; readonly height: number } {
  const { dashboard, caption, range, from = 0, until = Number.POSITIVE_INFINITY } = picture;
  const shown = dashboard.panels
    .filter(({ gridPos: { y } }) => y >= from && y < until)
    .map((panel) => ({ ...panel, gridPos: { ...panel.gridPos, y: panel.gridPos.y - from } }));
  const rows = Math.max(...shown.map(({ gridPos }) => gridPos.y + gridPos.h));
  const content = {
    title: dashboard.title,
    caption,
    width: WIDTH,
    columns: COLUMNS,
    rowHeight: ROW_HEIGHT,
    top: TOP,
    times: Array.from({ length: Math.floor((range.end - range.start) / range.step) + 1 }, (_, nth) => nth * range.step),
    rows: shown.filter(({ type }) => type === 'row').map(({ title, gridPos }) => ({ title, gridPos })),
    panels: shown.filter(({ type }) => type !== 'row').map((panel) => drawable(panel, picture)),
  };
  const library = (name: string) => readFileSync(resolve('node_modules/uplot/dist', name), 'utf8');
  const html = readFileSync(join(import.meta.dirname, 'preview.html'), 'utf8')
    .replace('/* UPLOT_STYLE */', () => library('uPlot.min.css'))
    .replace('/* UPLOT_SCRIPT */', () => library('uPlot.iife.min.js'))
    .replace('/* PICTURE */ null', () => JSON.stringify(content));
  return { html, height: TOP + rows * ROW_HEIGHT + 4 };
}

/**
 * Draws a picture with uPlot in headless chromium, laid out as the dashboard says. It is not Grafana's drawing.
 *
 * @param browser the program. @default Debian's
 * @returns the size of the file in bytes
 * @throws Error when the browser is not there, or draws nothing
 */
export function drawPicture(picture: Picture, browser = 'chromium'): number {
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-preview-'));
  try {
    const { html, height } = page(picture);
    writeFileSync(join(folder, 'page.html'), html);
    mkdirSync(dirname(picture.path), { recursive: true });
    rmSync(picture.path, { force: true });
    const args = [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars'],
      ...[`--user-data-dir=${folder}`, `--window-size=${WIDTH},${height}`, '--virtual-time-budget=5000'],
      ...[`--screenshot=${resolve(picture.path)}`, `file://${folder}/page.html`],
    ];
    const { error, status, stderr } = spawnSync(browser, args, { encoding: 'utf8' });
    if (error !== undefined) {
      throw new Error(`${picture.path} was not drawn: ${browser} cannot be started (Debian: apt-get install chromium)`);
    }
    if (!existsSync(picture.path)) {
      throw new Error(`${picture.path} was not drawn: ${browser} ended with ${status}: ${stderr}`);
    }
    return statSync(picture.path).size;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
