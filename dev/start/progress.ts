import { setTimeout as delay } from 'node:timers/promises';
import type { Screen } from '../run/screen.ts';
import { count } from '../verdict/finding.ts';
import { type Positions, sumOfNext } from '../verdict/positions.ts';
import type { Job } from './job.ts';
import { lookAtReplica, type ReplicaLook } from './replica-job.ts';
import type { RowCount } from './table-job.ts';

const PROGRESS_INTERVAL_MS = 500;
const SECOND_MS = 1_000;
/** Looks over which the rate is taken: 5 s, so that it does not jump with each transaction. */
const RATE_LOOKS = 10;

/** What one look at Kafka, PostgreSQL and the consumer found. */
interface Look {
  /** Records that Kafka acknowledged. */
  readonly produced: number;
  /** `UP` and the like; undefined: no answer. */
  readonly health: string | undefined;
  /** Undefined: the server that {@link silent} names did not answer. */
  readonly positions: Positions | undefined;
  readonly silent: 'Kafka' | 'PostgreSQL' | undefined;
  /** With `--tables`. */
  readonly tables: readonly RowCount[];
  /** With `--cdc`. */
  readonly replica: ReplicaLook | undefined;
  /** Records a second that went into PostgreSQL lately; undefined: not known. */
  readonly perSecond: number | undefined;
}

/**
 * Shows on the changing line how many records are produced and stored, until the signal is aborted: on a terminal with
 * their rate and the consumer's health, elsewhere as plain numbers.
 */
export async function showProgress(job: Job, screen: Screen, signal: AbortSignal): Promise<void> {
  const rate = new Rate();
  while (!signal.aborted) {
    const look = await lookAt(job, rate);
    if (signal.aborted) {
      break;
    }
    if (screen.isTerminal) {
      screen.status(statusLine(job.first, look), look.health === 'UP' && look.silent === undefined);
    } else {
      screen.status(progressLine(job.first, look));
    }
    await delay(PROGRESS_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
  screen.endStatus();
}

async function lookAt({ producer, positions, consumer: { current }, tables, replica }: Job, rate: Rate): Promise<Look> {
  const [health, known] = await Promise.all([
    current.get(current.endpoint.healthPath).then(statusOf, () => undefined),
    Promise.all([positions.read(), tables?.counts.read() ?? [], replica && lookAtReplica(replica)]).catch(
      (error: Error) => error,
    ),
  ]);
  const { acknowledged: produced } = producer;
  if (known instanceof Error) {
    const silent = known.name.startsWith('KafkaJS') ? 'Kafka' : 'PostgreSQL';
    return { produced, health, silent, positions: undefined, tables: [], replica: undefined, perSecond: undefined };
  }
  const [now, rows, events] = known;
  const perSecond = rate.of(sumOfNext(now));
  return { produced, health, silent: undefined, positions: now, tables: rows, replica: events, perSecond };
}

/** The word of a health answer; undefined when it is none. */
const statusOf = async (answer: Response): Promise<string | undefined> =>
  ((await answer.json()) as { status?: string }).status;

/** How fast a number grew over the last looks. */
export class Rate {
  readonly #now: () => number;
  readonly #looks: { readonly at: number; readonly value: bigint }[] = [];

  /** @param now the clock in milliseconds. @default performance.now */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes a look; undefined at the first one. */
  of(value: bigint): number | undefined {
    const look = { at: this.#now(), value };
    const [first = look] = this.#looks;
    this.#looks.push(look);
    if (this.#looks.length > RATE_LOOKS) {
      this.#looks.shift();
    }
    const elapsed = look.at - first.at;
    return elapsed > 0 ? (Number(look.value - first.value) * SECOND_MS) / elapsed : undefined;
  }
}

/** Counts since the first look. */
function counts(first: Positions, now: Positions) {
  const deadLetters = now.deadLetters - first.deadLetters;
  const end = [...now.end.values()].reduce((total, offset) => total + offset, 0n);
  return { stored: sumOfNext(now) - sumOfNext(first) - deadLetters, deadLetters, lag: end - sumOfNext(now) };
}

/**
 * `produced 1,000   in the table 990   dead letters 10   lag 0`.
 *
 * @param first the positions before the first record: only what came after them counts.
 */
export function progressLine(first: Positions, look: Omit<Look, 'health'>): string {
  const { positions, produced, silent } = look;
  if (positions === undefined) {
    return `produced ${count(produced)}   ${silent} does not answer`;
  }
  const { stored, deadLetters, lag } = counts(first, positions);
  return `produced ${count(produced)}   in the table ${count(stored)}   dead letters ${count(deadLetters)}   lag ${count(lag)}${rowsOf(look)}`;
}

/** `   orders 1,990 rows   customers 845 rows   changes at the source 200   events ahead 12`. */
const rowsOf = ({ tables, replica }: Pick<Look, 'tables' | 'replica'>): string =>
  tables.map(({ table, rows }) => `   ${table} ${count(rows)} rows`).join('') +
  (replica === undefined
    ? ''
    : `   changes at the source ${count(replica.changes)}   events ahead ${count(replica.ahead)}`);

/** `health UP   498 records/s   lag 3   dead letters 10   in the table 1,990   produced 2,003`. */
export function statusLine(first: Positions, look: Look): string {
  const health = `health ${look.health ?? 'does not answer'}`;
  if (look.positions === undefined) {
    return `${health}   ${look.silent} does not answer   produced ${count(look.produced)}`;
  }
  const { stored, deadLetters, lag } = counts(first, look.positions);
  const rate = look.perSecond === undefined ? '' : `   ${count(Math.round(look.perSecond))} records/s`;
  const rest = `in the table ${count(stored)}${rowsOf(look)}   produced ${count(look.produced)}`;
  return `${health}${rate}   lag ${count(lag)}   dead letters ${count(deadLetters)}   ${rest}`;
}
