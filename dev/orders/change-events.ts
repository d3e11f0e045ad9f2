import { UNAVAILABLE_VALUE } from '../../settings/sections/tables/table-envelope.ts';
import { pick, randomSource } from './random-source.ts';
import type { ProducedRecord } from './sample-producer.ts';
import { NAMES, type SampleRecord } from './sample-record.ts';

/** Rows of the source that change at a time; no request of a producer has two events of one. */
const ACTIVE_ROWS = 500;

/** What becomes of a row, an event for each. Updates that leave the large value alone do not send it. */
const STEPS = ['c', 'u, kept', 'u', 'u, kept', 'd', 'tombstone'] as const;
/** Of a row that stays, the last steps are updates. */
const DELETION_EVERY = 3;
const BROKEN_EVERY = 40;

const LARGE_BYTES = 3_000;
const FIRST_CHANGE_AT = Date.UTC(2026, 0, 1);
const MS_BETWEEN_CHANGES = 113;

/** The row's number at an index of the stream, and what becomes of it. */
function stepAt(index: number) {
  const [block, within] = [Math.floor(index / (ACTIVE_ROWS * STEPS.length)), index % (ACTIVE_ROWS * STEPS.length)];
  const id = block * ACTIVE_ROWS + (within % ACTIVE_ROWS);
  const step = STEPS[Math.floor(within / ACTIVE_ROWS)] ?? 'c';
  const stays = id % DELETION_EVERY !== 0;
  return { id, step: stays && (step === 'd' || step === 'tombstone') ? ('u, kept' as const) : step };
}

/**
 * The record at an index of the stream of change events of a table of profiles, as Debezium writes them: each row is
 * inserted, updated, with its large column in the event and without, and one of three is deleted.
 */
export function profileEvent(seed: number, index: number, partitions: number): SampleRecord {
  const { id, step } = stepAt(index);
  const record = { partition: id % partitions, key: Buffer.from(`{"id":${id}}`), headers: [], reason: undefined };
  if (step === 'tombstone') {
    return { ...record, value: null };
  }
  if (step === 'd') {
    // What the row was before is made up, as Debezium makes it up.
    return { ...record, value: Buffer.from(`{"before":{"id":${id},"name":"","life":""},"after":null,"op":"d"}`) };
  }
  if (step === 'u' && id % BROKEN_EVERY === 0) {
    return { ...record, value: Buffer.from('{"before":null,"after":null,"op":"t"}'), reason: 'truncate' };
  }
  const random = randomSource(seed, index);
  const after = {
    id,
    name: pick(random, NAMES),
    life: step === 'u, kept' ? UNAVAILABLE_VALUE : `${random.below(1_000_000)} `.repeat(LARGE_BYTES / 8),
    changedAt: new Date(FIRST_CHANGE_AT + index * MS_BETWEEN_CHANGES).toISOString(),
  };
  return { ...record, value: Buffer.from(JSON.stringify({ before: null, after, op: step.slice(0, 1) })) };
}

/** The row of each key that is there at the end, as the value of the record that made it, of events in their order. */
export function lastRows(events: Iterable<ProducedRecord>): ReadonlyMap<string, ProducedRecord> {
  const rows = new Map<string, ProducedRecord>();
  const lives = new Map<string, unknown>();
  for (const event of events) {
    if (event.reason !== undefined) {
      continue;
    }
    const key = String(event.key);
    const after = event.value === null ? null : rowOf(event.value);
    if (after === null) {
      rows.delete(key);
      continue;
    }
    const life = after.life === UNAVAILABLE_VALUE ? lives.get(key) : after.life;
    lives.set(key, life);
    rows.set(key, { ...event, value: Buffer.from(JSON.stringify({ ...after, life })) });
  }
  return rows;
}

const rowOf = (event: Buffer) =>
  (JSON.parse(event.toString('utf8')) as { readonly after: { readonly life: unknown } | null }).after;
