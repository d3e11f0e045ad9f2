import type { Health, Status } from '../../health/health.ts';
import type { LastFailure } from '../../health/refreshed-health.ts';
import type { LetterReport } from '../../store/tables/kept-letters.ts';
import type { ConsumerReport } from '../../stream/partition/consumer-state.ts';
import type { Figures, History } from './history.ts';

/** What the page shows, as it is known at one moment. */
export interface PageFacts {
  readonly now: Date;
  /** When the process started: what it counts, it counts since then. */
  readonly startedAt: Date;
  readonly version: string;
  /** @default not known */
  readonly commit?: string | undefined;
  readonly status: Status;
  /** The health by its components. */
  readonly components: Readonly<Record<string, Health>>;
  /** What the checks of PostgreSQL and Kafka met last; `null` where they met nothing yet. */
  readonly lastFailures: Readonly<Record<'db' | 'kafka', LastFailure | null>>;
  readonly report: ConsumerReport;
  /** Topics whose records go into the table `records`. */
  readonly recordTopics: readonly string[];
  readonly letters: LetterReport;
  readonly figures: Figures;
  readonly history: Pick<History, 'ofPartition' | 'ofTopic' | 'ofTable' | 'ofAll'>;
  /** Paths of the endpoints that answer, by their names. */
  readonly links: ReadonlyMap<string, string>;
}

/** More rows of a table would hide those that matter. */
export const MOST_ROWS = 20;

/** Something that does not go on, and what a person can do. */
export interface Wait {
  /** What waits for what, as a sentence without its end. */
  readonly what: string;
  /** @default not known */
  readonly since?: Date | null;
  /** The error. @default none */
  readonly why?: string;
  /** What mends it, as sentences. */
  readonly mend: string;
  /** The page of docs/ that has more. */
  readonly page: string;
}
