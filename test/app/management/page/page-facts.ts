import type { PageFacts } from '../../../../app/management/page/facts.ts';
import { page } from '../../../../app/management/page/page.ts';
import type { Sample } from '../../../../app/metrics/exposition/metric-source.ts';
import type { ConsumerReport, PartitionReport } from '../../../../app/stream/partition/consumer-state.ts';

const NOW = new Date('2026-11-26T12:00:00Z');

/** So many milliseconds before now. */
export const ago = (ms: number): Date => new Date(NOW.getTime() - ms);

/** A partition that is written. */
export const owned = (partition: number, more: Partial<PartitionReport> = {}): PartitionReport => ({
  ...{ topic: 'orders', partition, nextOffset: 96n, lag: 0n, logEndAgeMs: 1_000, behindSince: null },
  ...more,
});

/** A consumer at work. */
export const RUNNING: ConsumerReport = {
  state: 'running',
  stateSince: ago(7_200_000),
  groupId: 'orders-consumer',
  partitions: [owned(0), owned(1)],
  topics: [{ topic: 'orders', isGone: false, partitions: 4, leaderless: 0 }],
  lastProgressAt: ago(500),
  lastError: null,
};

const none = (): readonly Sample[] => [];

/** What is known of that consumer. */
export const FACTS: PageFacts = {
  now: NOW,
  startedAt: ago(7_300_000),
  version: '1.2.3',
  status: 'UP',
  components: { db: { status: 'UP' }, kafka: { status: 'UP' }, consumer: { status: 'UP' } },
  lastFailures: { db: null, kafka: null },
  report: RUNNING,
  recordTopics: ['orders'],
  letters: { waiting: [], expired: null },
  figures: {
    recordsConsumed: none,
    rowsWritten: none,
    tableRecords: none,
    deadLetters: none,
    tableDeadLetters: none,
  },
  history: {
    ofPartition: () => undefined,
    ofTopic: () => undefined,
    ofTable: () => undefined,
    ofAll: { lag: [], perSecond: [] },
  },
  links: new Map([['health', '/actuator/health']]),
};

/** The page of that consumer, with something else. */
export const pageWith = (facts: Partial<PageFacts>, report: Partial<ConsumerReport> = {}): string =>
  page({ ...FACTS, report: { ...RUNNING, ...report }, ...facts });

/** The text of a page, or of a part of it, without its tags. */
export const textOf = (html: string): string =>
  html
    .replace(/<style>.*?<\/style>|<script>.*?<\/script>/gs, '')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&#39;', "'")
    .replace(/\s+/g, ' ')
    .trim();

/** A section by its heading; empty where it is not there. */
export const section = (html: string, heading: string): string =>
  html.split('<section').find((part) => textOf(part).includes(`> ${heading}`)) ?? '';

/** The cells of a row by its name, and its name. */
export function cellsOf(html: string, name: string): readonly string[] {
  const rows = html.split('<tr role="row"').slice(1);
  const row = rows.find((each) => each.includes(`scope="row">${name}`)) ?? '';
  return [...row.matchAll(/<t[hd] role="(?:rowheader|cell)"[^>]*>(.*?)<\/t[hd]>/g)].map(([, cell = '']) =>
    textOf(cell),
  );
}
