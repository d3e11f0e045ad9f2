import { MINUTES, type Points } from './history.ts';
import { html, type Markup } from './markup.ts';

/** Width of a point, and height of a chart, in the units of its `viewBox`. */
const POINT_WIDTH = 2;
const HEIGHT = 24;

/** What a chart shows, for who does not see it. */
export interface ChartWords {
  /** Such as `lag of orders`. */
  readonly what: string;
  /** How a value is written. */
  readonly write: (value: number) => string;
}

/**
 * A line of the last ten minutes as SVG, from 0 to the highest value; where nothing is known, the line has a gap.
 * Nothing is drawn where fewer than two points are known.
 */
export function chart(points: Points, { what, write }: ChartWords): Markup | null {
  const known = points.filter((point) => !Number.isNaN(point));
  if (known.length < 2) {
    return null;
  }
  const [lowest, highest] = [Math.min(...known), Math.max(...known)];
  const words = `${what}, last ${MINUTES} minutes: from ${write(lowest)} to ${write(highest)}`;
  const width = POINT_WIDTH * (points.length - 1);
  return html`<svg viewBox="0 -1 ${width} ${HEIGHT + 2}" preserveAspectRatio="none" role="img" aria-label="${words}"><path d="${linePath(points, highest)}"/></svg>`;
}

/** The commands of a path, relative ones: a flat stretch is one of them, whatever its length. */
function linePath(points: readonly number[], highest: number): string {
  const height = (value: number) => (highest > 0 ? Math.round(HEIGHT * (1 - value / highest)) : HEIGHT);
  let path = '';
  let at: number | null = null;
  let flat = 0;
  const flush = () => {
    path += flat > 0 ? `h${flat}` : '';
    flat = 0;
  };
  points.forEach((value, index) => {
    if (Number.isNaN(value)) {
      flush();
      at = null;
      return;
    }
    const y = height(value);
    if (at === null) {
      path += `M${index * POINT_WIDTH} ${y}`;
    } else if (y === at) {
      flat += POINT_WIDTH;
    } else {
      flush();
      path += `l${POINT_WIDTH} ${y - at}`;
    }
    at = y;
  });
  flush();
  return path;
}
