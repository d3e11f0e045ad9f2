import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { TableOperation, WriteMethod } from '../../../contract/metrics/definition.ts';
import type { TopicPartition } from '../../records/record.ts';
import type { Records } from '../../records/records.ts';
import type { OffsetOrigin, Position, UnreadableBatch } from './record-source.ts';
import type { FatalError } from './stream-errors.ts';

/** Records of one partition that become one transaction; their origin is stored with the next offset. */
export interface WriteRequest extends TopicPartition, OffsetOrigin {
  /** The next offset that must be stored for the transaction to happen ... */
  readonly expectedOffset: bigint;
  /** ... and the one that is stored by it. */
  readonly nextOffset: bigint;
  readonly records: Records;
}

/**
 * Offsets of one partition whose records are given up, from the expected one up to but without the next one: they were
 * deleted before they were read, or cannot be.
 */
export interface Gap extends Omit<WriteRequest, 'records'> {
  /** The batch that they are of, when it cannot be read; `null` or absent: they were deleted. */
  readonly broken?: UnreadableBatch | null;
}

/** Records of which the same was done in one table of the user's own. */
export interface TableRecords {
  /** With its schema. */
  readonly table: string;
  readonly operation: TableOperation;
  readonly records: number;
}

/** Dead letters that a table of the user's own made for the same reason. */
export interface TableLetters {
  /** With its schema. */
  readonly table: string;
  /** The column at fault, several with a comma between them; empty: no column, or it is not known. */
  readonly column: string;
  readonly reason: DeadLetterReason;
  readonly records: number;
}

/** What a transaction did with the records of one request in tables of the user's own. */
export interface TableCounts {
  /** Dead letters left out. */
  readonly operations: readonly TableRecords[];
  readonly deadLetters: readonly TableLetters[];
  /** Fields of the records' values that no table of the topic takes. */
  readonly unmappedFields: number;
  /** Records that no table of the topic takes, and that are no dead letters. */
  readonly unmatched: number;
}

/** What a transaction did with the records of a request. */
export interface CommittedWrite {
  readonly kind: 'committed';
  readonly deadLetters: ReadonlyMap<DeadLetterReason, number>;
  /** Rows by the way they were written. */
  readonly rows: ReadonlyMap<WriteMethod, number>;
  /** `undefined` or left out: the topic has no table of the user's own. */
  readonly tables?: TableCounts | undefined;
}

/**
 * `fenced`: the stored offset was not the expected one, or is known to be of a topic with another id, so nothing was
 * written. The stored position, which is read next, shows which.
 */
export type WriteOutcome = CommittedWrite | { readonly kind: 'fenced' };

/** The tables that records go to, with what distinguishes them from those of the same name elsewhere. */
export interface WritePlace {
  readonly schema: string;
  readonly database: string;
  /** What `initdb` made up for the server and its standbys; `null` where the role may not read it. */
  readonly systemIdentifier: string | null;
}

/**
 * Where records go: the port behind which PostgreSQL lives. Every method rejects with `OutageError` for trouble that
 * passes by itself and with `FatalError` for trouble that does not, and with nothing else.
 */
export interface RecordSink {
  /**
   * Stored positions of the topics' partitions, `null` what was not stored of their origin; those without one are left
   * out.
   */
  positions(topics: readonly string[]): Promise<Position[]>;
  /** Stores the ids of topics by their names, where none is stored. */
  adoptTopicIds(ids: ReadonlyMap<string, string>): Promise<void>;
  /**
   * Stores which tables the group fills from topics whose positions are stored, where that is not stored yet. By the
   * topics' names: their ids, `null` where one is not known.
   */
  recordTables(ids: ReadonlyMap<string, string | null>): Promise<void>;
  /**
   * Stores first positions for a topic, atomically towards every other process: `choose` is given the partitions that
   * have a position and answers with those to add. Answers with all positions of the topic. With the first ones it
   * stores which tables the group fills from the topic; rejects with `GROUP_MEETS_ANOTHER` where another group fills
   * one of them.
   */
  initialize(topic: string, choose: (stored: ReadonlySet<number>) => readonly Position[]): Promise<Position[]>;
  /** Which of the topics' tables do not fit, and why, by the topics' names: their records cannot be written. */
  misfits(topics: readonly string[]): Promise<ReadonlyMap<string, FatalError>>;
  /** Records a range of offsets that are given up and moves the stored offset over it, in one transaction. */
  skip(gap: Gap): Promise<WriteOutcome>;
  /** Rows, dead letters and the compare-and-set of the offset, in one transaction. */
  write(request: WriteRequest): Promise<WriteOutcome>;
}
