import { PRODUCT_NAME } from '../../../contract/identity.ts';
import type { Status } from '../../health/health.ts';
import { explainedText } from '../../logging/error-text.ts';
import { type ChartWords, chart } from './chart.ts';
import type { PageFacts } from './facts.ts';
import { MINUTES, type Points } from './history.ts';
import { type Content, countText, durationText, html, type Markup, momentText, rateText, sinceText } from './markup.ts';
import { lagText, meanText, oldestText, partitionsSection, topicsSection, unknownText } from './partitions.ts';
import { SCRIPT, STYLE } from './style-and-script.ts';
import { waitsSection } from './waits.ts';
import { lettersSection, tablesSection, waitingLetters } from './written-tables.ts';

/** A sign beside the word and the color of a status. */
const SIGN: Readonly<Record<Status, string>> = { UP: '●', DOWN: '✕', OUT_OF_SERVICE: '◐', UNKNOWN: '?' };

/**
 * A middle dot. In a template of HTML esbuild would keep it, and V8 stores source with such a character twice as large.
 */
const DOT = '·';

/** Colors of the icon in the browser's tab. */
const ICON_COLOR: Readonly<Record<Status, string>> = {
  UP: '1f7a3d',
  DOWN: 'c62f24',
  OUT_OF_SERVICE: 'b97a00',
  UNKNOWN: '6b6862',
};

const chip = (status: Status): Markup => html`<span class="chip ${status}">${SIGN[status]} ${status}</span>`;

/** The page with all that the health shows, too. */
export function page(facts: PageFacts): string {
  const { report, status } = facts;
  const sections = [
    waitsSection(facts),
    tiles(facts),
    systems(facts),
    topicsSection(facts),
    partitionsSection(facts),
    tablesSection(facts),
    lettersSection(facts),
  ];
  return document(
    { title: `${status} ${DOT} ${report.groupId}`, status },
    html`${pageHead(facts)}<main>${sections}</main>${footer(facts)}`,
  );
}

/** The page where the settings show no details: the status, as the health has it. */
export function bareStatus(status: Status): string {
  return document(
    { title: `${status} ${DOT} ${PRODUCT_NAME}`, status },
    html`<header><h1>${PRODUCT_NAME}</h1><p>${chip(status)}</p></header><main><p>Details are hidden, as <code>management.endpoint.health.show-details</code> sets it.</p></main>`,
  );
}

function document({ title, status }: { readonly title: string; readonly status: Status }, live: Markup): string {
  const icon = `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><circle cx='4' cy='4' r='4' fill='%23${ICON_COLOR[status]}'/></svg>`;
  const head = html`<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${title}</title><link rel="icon" href="${icon}">`;
  const refresh = html`<p id="refresh" hidden><button type="button" aria-pressed="false">Pause</button> <span role="status"></span></p>`;
  const body = html`<div id="live">${live}</div>${refresh}`;
  return `<!doctype html>\n<html lang="en"><head>${head.text}<style>${STYLE}</style></head><body>${body.text}<script>${SCRIPT}</script></body></html>\n`;
}

function pageHead({ report, status, version, commit, now }: PageFacts): Markup {
  const { state, stateSince, groupId } = report;
  const since = stateSince ? html` ${sinceText(stateSince, now)}` : null;
  const build = html`${PRODUCT_NAME} ${version}${commit === undefined ? null : ` (${commit})`}`;
  return html`<header><p>${build}</p><h1><small>Group</small> ${groupId}</h1><p>${chip(status)} ${DOT} <b>${state}</b>${since}</p></header>`;
}

function tile(title: string, value: Content, more: Content): Markup | null {
  return value === undefined ? null : html`<div><h3>${title}</h3><p class="value">${value}</p>${more}</div>`;
}

const noteText = (text: string | undefined): Markup | null => (text === undefined ? null : html`<p>${text}</p>`);

/** A chart with its highest value. */
function drawn(points: Points, words: ChartWords): Markup | null {
  const drawing = chart(points, words);
  const highest = Math.max(...points.filter((point) => !Number.isNaN(point)));
  return drawing && html`${drawing}<p>at most ${words.write(highest)}</p>`;
}

/** What a person asks first: how far behind, how fast, for how long, and how much could not be stored. */
function tiles(facts: PageFacts): Markup {
  const { report, history, now } = facts;
  const { partitions } = report;
  const { lag, perSecond } = history.ofAll;
  const letters = waitingLetters(facts);
  const lagWords = { what: 'lag of all partitions', write: countText };
  const rateWords = { what: 'records a second of all partitions', write: rateText };
  const unknown = noteText(unknownText(partitions));
  const progress = report.lastProgressAt && html`<p>last write ${momentText(report.lastProgressAt, now)}</p>`;
  return html`<section><h2>This process</h2><div class="tiles">${[
    tile('Lag', lagText(partitions), html`${drawn(lag, lagWords)}${unknown}`),
    tile(`Records/s, ${MINUTES} min`, meanText(history.ofAll), drawn(perSecond, rateWords)),
    tile('Oldest record waits', partitions.length > 0 ? oldestText(partitions, now) : undefined, progress),
    tile(
      'Dead letters in the table',
      letters && countText(letters.count),
      letters && letters.count > 0 ? html`<p>of the group, the oldest for ${durationText(letters.oldestMs)}</p>` : null,
    ),
  ]}</div></section>`;
}

const SYSTEMS = [
  { name: 'db', title: 'PostgreSQL' },
  { name: 'kafka', title: 'Kafka' },
  { name: 'schemaRegistry', title: 'Schema registry' },
] as const;

/** PostgreSQL and Kafka as the last checks found them, with the last error of each. */
function systems(facts: PageFacts): Markup {
  const { components, lastFailures, report, now } = facts;
  const parts = SYSTEMS.flatMap(({ name, title }) => {
    const health = components[name];
    const failure = name === 'schemaRegistry' ? null : lastFailures[name];
    const error = failure ?? errorNow(health?.details?.['error']);
    return health === undefined
      ? []
      : [html`<div><h3>${title} ${chip(health.status)}</h3>${lastError(error, now)}</div>`];
  });
  const { lastError: message, lastErrorAt: at } = report;
  const own = message === null ? null : { error: explainedText(message), ...(at && { at }) };
  const consumer = own && html`<div><h3>Reading and writing</h3>${lastError(own, now)}</div>`;
  return html`<section><h2>Systems</h2><div class="tiles">${parts}${consumer}</div></section>`;
}

const errorNow = (error: unknown): { readonly error: string } | null => (typeof error === 'string' ? { error } : null);

function lastError(failure: { readonly error: string; readonly at?: Date } | null, now: Date): Markup {
  if (failure === null) {
    return html`<p>No error since the start.</p>`;
  }
  const at =
    failure.at && html` ${momentText(failure.at, now)} (${durationText(now.getTime() - failure.at.getTime())} ago)`;
  return html`<p>Last error${at}:</p><p><code>${failure.error}</code></p>`;
}

/** The links are relative: a proxy may have put the page below another path. */
function footer({ now, links }: PageFacts): Markup {
  const anchors = [...links].map(([name, path]) => html` <a href="${path.replace(/^\//, './')}">${name}</a>`);
  return html`<footer><p>As of ${momentText(now, now)}. Charts and rates are of the last ${MINUTES} minutes, as far as this process remembers them; each other process of the group has its page.</p><nav aria-label="Endpoints">${anchors}</nav></footer>`;
}
