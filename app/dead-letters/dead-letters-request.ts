import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';

/** Which dead letters are meant; each condition that is left empty holds for all. */
export interface DeadLetterFilter {
  readonly reasons: readonly DeadLetterReason[];
  readonly topics: readonly string[];
}

interface Common {
  readonly filter: DeadLetterFilter;
  /** Letters to look at, at most; `undefined` is all of them. */
  readonly limit: number | undefined;
  /** Whether the output is one JSON object per line instead of text. */
  readonly json: boolean;
}

/** What the command `dead-letters list` was asked for. */
export interface ListRequest extends Common {
  readonly action: 'list';
  /** Whether keys and values are shown, which may hold what not everybody may see. */
  readonly showValue: boolean;
}

/** What the command `dead-letters replay` was asked for. */
export interface ReplayRequest extends Common {
  readonly action: 'replay';
  /** Whether everything is tried, and nothing changed. */
  readonly dryRun: boolean;
}

export type DeadLettersRequest = ListRequest | ReplayRequest;
