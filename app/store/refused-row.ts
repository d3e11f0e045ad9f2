import { DatabaseError } from 'pg';
import { alreadyWritten } from './already-written.ts';
import { RowRefused } from './isolate-poison.ts';
import { verdictOn } from './sqlstate.ts';

/** Whose fault a failed COPY is: the row's that its context names, or nobody's. */
export function asRefusal(error: unknown, groupId: string): unknown {
  const duplicate = alreadyWritten(error, groupId);
  if (duplicate) {
    return duplicate;
  }
  if (error instanceof DatabaseError && error.code !== undefined && verdictOn(error) === 'isolate') {
    return new RowRefused(error.code, refusedIndex(error.where), { cause: error });
  }
  return error;
}

/** The context's last `COPY records, line N`; a JSON error prints a line of its own before, and neither is ever logged. */
function refusedIndex(context: string | undefined): number | null {
  const lines = [...(context ?? '').matchAll(/^COPY records, line (\d+)/gm)];
  const line = Number(lines.at(-1)?.[1] ?? 0);
  return line > 0 ? line - 1 : null;
}
