import type { ConsumerReport, PartitionReport } from '../../stream/partition/consumer-state.ts';
import { chart } from './chart.ts';
import { MOST_ROWS, type PageFacts } from './facts.ts';
import { meanOf, type Remembered } from './history.ts';
import {
  type Column,
  type Content,
  countOfText,
  countText,
  durationText,
  html,
  type Markup,
  rateText,
  sinceText,
  table,
} from './markup.ts';

/** An end of the log that is older says its age beside the lag. */
const SHOWN_AGE_MS = 15_000;

/** A row: one partition, or several together. */
interface Row {
  readonly name: string;
  readonly partitions: readonly PartitionReport[];
  readonly remembered: Remembered | undefined;
  /** Shown where the name is. @default nothing */
  readonly note?: string;
  readonly state: Content;
}

/** The topics, with what their partitions have together. */
export function topicsSection(facts: PageFacts): Markup | null {
  const byTopic = new Map<string, PartitionReport[]>();
  for (const owned of facts.report.partitions) {
    const known = byTopic.get(owned.topic) ?? [];
    known.push(owned);
    byTopic.set(owned.topic, known);
  }
  if (byTopic.size === 0) {
    return null;
  }
  const rows = [...byTopic]
    .toSorted(([, a], [, b]) => compare(worstOf(a), worstOf(b)))
    .map(([topic, partitions]) => ({
      name: topic,
      partitions,
      note: ownedText(facts.report, topic, partitions.length),
      remembered: facts.history.ofTopic(topic),
      state: topicState(partitions),
    }));
  const shown = rows.slice(0, MOST_ROWS);
  const title = shown.length < rows.length ? `The ${MOST_ROWS} worst of ${countText(rows.length)} topics` : 'Topics';
  return html`<section><h2>${title}</h2>${table(title, columns('Topic', facts), shown)}</section>`;
}

/** The partitions: all of them, or the worst ones, and their sum. Before the group was joined, nothing is known. */
export function partitionsSection(facts: PageFacts): Markup | null {
  const { partitions, unjoined } = facts.report;
  if (partitions.length === 0) {
    const none = html`<section><h2>Partitions</h2><p>The group has given this process none.</p></section>`;
    return unjoined === undefined ? none : null;
  }
  const isShort = partitions.length <= MOST_ROWS;
  const shown = partitions.toSorted(isShort ? byPartition : compare).slice(0, MOST_ROWS);
  const title = isShort ? 'Partitions' : `The ${MOST_ROWS} worst of ${countText(partitions.length)} partitions`;
  const rows: readonly Row[] = shown.map((owned) => ({
    name: `${owned.topic}/${owned.partition}`,
    partitions: [owned],
    remembered: facts.history.ofPartition(owned),
    state: stateOf(owned, facts.now),
  }));
  const sum: Row = {
    name: `all ${countText(partitions.length)}`,
    partitions,
    remembered: facts.history.ofAll,
    state: unknownText(partitions),
  };
  return html`<section><h2>${title}</h2>${table(title, columns('Partition', facts), rows, partitions.length > 1 ? sum : undefined)}</section>`;
}

function columns(title: string, { now }: PageFacts): readonly Column<Row>[] {
  return [
    {
      title,
      cell: ({ name, note }) => html`${name}${note === undefined ? null : html` <small>${note}</small>`}`,
    },
    { title: 'Lag', kind: 'number', cell: ({ partitions }) => lagText(partitions) },
    { title: 'Oldest waits', kind: 'number', cell: ({ partitions }) => oldestText(partitions, now) },
    {
      title: 'Lag, 10 min',
      kind: 'chart',
      cell: ({ remembered, name }) => remembered && chart(remembered.lag, { what: `lag of ${name}`, write: countText }),
    },
    {
      title: 'Records/s',
      kind: 'number',
      cell: ({ remembered }) => remembered && meanText(remembered),
    },
    {
      title: 'Records/s, 10 min',
      kind: 'chart',
      cell: ({ remembered, name }) =>
        remembered && chart(remembered.perSecond, { what: `records a second of ${name}`, write: rateText }),
    },
    { title: 'State', cell: ({ state }) => state },
  ];
}

/** The mean of the points that are known: of ten minutes, or of the time since the partition came. */
export function meanText({ perSecond }: Remembered): string | undefined {
  const mean = meanOf(perSecond);
  return mean === undefined ? undefined : rateText(mean);
}

/** The lag of what is known; nothing where it is known of none. */
export function lagText(partitions: readonly PartitionReport[]): string | undefined {
  const known = partitions.filter(({ lag }) => lag !== null);
  if (known.length === 0) {
    return undefined;
  }
  const ageMs = Math.max(...known.map(({ logEndAgeMs = 0 }) => logEndAgeMs));
  const age = ageMs > SHOWN_AGE_MS ? ` (${durationText(ageMs)} ago)` : '';
  return `${countText(known.reduce((sum, { lag }) => sum + (lag ?? 0n), 0n))}${age}`;
}

/** `1 partition not known`; nothing where the lag of all is. That of a topic that waits does not count. */
export function unknownText(partitions: readonly PartitionReport[]): string | undefined {
  const unknown = partitions.filter(({ lag, topicWaitsSince }) => lag === null && !topicWaitsSince).length;
  return unknown === 0 ? undefined : `lag of ${countOfText(unknown, 'partition')} not known`;
}

/** For how long the oldest record has waited; nothing where that is not known. */
export function oldestText(partitions: readonly PartitionReport[], now: Date): string | undefined {
  const oldest = oldestOf(partitions);
  if (oldest !== null) {
    return durationText(now.getTime() - oldest);
  }
  return partitions.every(({ lag }) => lag === 0n) ? 'none' : undefined;
}

function oldestOf(partitions: readonly PartitionReport[]): number | null {
  const times = partitions.flatMap(({ behindSince }) => (behindSince ? [behindSince.getTime()] : []));
  return times.length === 0 ? null : Math.min(...times);
}

function ownedText({ topics = [] }: ConsumerReport, topic: string, owned: number): string {
  const partitions = topics.find((known) => known.topic === topic)?.partitions;
  return partitions === undefined || partitions < owned
    ? countOfText(owned, 'partition')
    : `${countText(owned)} of ${countOfText(partitions, 'partition')}`;
}

/** What holds a partition up, in words; nothing where nothing does. */
function stateOf(owned: PartitionReport, now: Date): Content {
  const { unreadable, leaderlessSince, schemasAwaited, stalledSince, topicWaitsSince, awaits, lag } = owned;
  if (topicWaitsSince) {
    return html`its topic waits ${sinceText(topicWaitsSince, now)}`;
  }
  if (unreadable) {
    return `cannot be read: ${unreadable.code} at offset ${unreadable.offset}`;
  }
  if (leaderlessSince) {
    return html`no leader ${sinceText(leaderlessSince, now)}`;
  }
  if (schemasAwaited && schemasAwaited.reason !== null) {
    return html`waits for a schema ${sinceText(schemasAwaited.since, now)}`;
  }
  if (stalledSince) {
    return html`stalled ${sinceText(stalledSince, now)}`;
  }
  if (awaits) {
    return `waits: ${awaits}`;
  }
  return lag === null ? `end of the log not known for ${durationText(owned.logEndAgeMs ?? 0)}` : null;
}

const isPartitionHeldUp = ({
  unreadable,
  leaderlessSince,
  schemasAwaited,
  stalledSince,
  topicWaitsSince,
}: PartitionReport) =>
  [unreadable, leaderlessSince, schemasAwaited?.reason ?? undefined, stalledSince, topicWaitsSince].some(
    (each) => each !== undefined,
  );

function topicState(partitions: readonly PartitionReport[]): string | undefined {
  const heldUp = partitions.filter(isPartitionHeldUp).length;
  return heldUp > 0 ? `${countOfText(heldUp, 'partition')} held up` : unknownText(partitions);
}

/** What is held up is worse than what is not known, and that is worse than any lag. */
function severity(owned: PartitionReport): number {
  if (isPartitionHeldUp(owned)) {
    return 0;
  }
  return owned.lag === null ? 1 : 2;
}

const behindAt = ({ behindSince }: PartitionReport): number => behindSince?.getTime() ?? Number.POSITIVE_INFINITY;

const byPartition = (a: PartitionReport, b: PartitionReport): number =>
  a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1;

/** The worst first: by severity, by the age of the oldest record, by lag, by name. */
function compare(a: PartitionReport, b: PartitionReport): number {
  if (severity(a) !== severity(b)) {
    return severity(a) - severity(b);
  }
  if (behindAt(a) !== behindAt(b)) {
    return behindAt(a) < behindAt(b) ? -1 : 1;
  }
  return Number((b.lag ?? 0n) - (a.lag ?? 0n)) || byPartition(a, b);
}

const worstOf = (partitions: readonly PartitionReport[]): PartitionReport =>
  partitions.reduce((worst, each) => (compare(each, worst) < 0 ? each : worst));
