/** A part of the rows was refused; `index` is the refused row's within that part, where PostgreSQL named it. */
export class RowRefused extends Error {
  override readonly name = 'RowRefused';
  readonly sqlstate: string;
  readonly index: number | null;

  constructor(sqlstate: string, index: number | null, options?: ErrorOptions) {
    super(`a row was refused with SQLSTATE ${sqlstate}`, options);
    this.sqlstate = sqlstate;
    this.index = index;
  }
}

/** Stores the rows `from` up to but without `to`, all of them or none. */
export type StoreRange = (from: number, to: number) => Promise<void>;

/** A row that cannot be stored, and its refusal. */
export interface Poison {
  readonly index: number;
  readonly cause: RowRefused;
}

/**
 * Stores `count` rows without the ones that are refused, and answers with those.
 *
 * Where PostgreSQL names the refused row, the rows before it are stored in one part and the row is done with; where it
 * does not, the part is halved until one row is left. The work is linear in the rows, however many are poison: after a
 * refusal the next part is at most twice as long as what was just settled, and it doubles with every part that goes
 * well.
 *
 * @param store rejects with {@link RowRefused} when a row is to blame; everything else ends the attempt
 */
export async function storeWithoutPoison(count: number, store: StoreRange): Promise<Poison[]> {
  const poison: Poison[] = [];
  let named = null as Poison | null;
  let size = count;
  for (let from = 0; from < count; ) {
    if (named?.index === from) {
      poison.push(named);
      named = null;
      from += 1;
      continue;
    }
    const to: number = Math.min(named?.index ?? count, from + size);
    const cause = await rowRefusedBy(store(from, to));
    if (cause === null) {
      from = to;
      size *= 2;
    } else if (cause.index !== null && from + cause.index < to) {
      named = { index: from + cause.index, cause };
      size = Math.max(1, 2 * cause.index);
    } else if (to - from === 1) {
      named = { index: from, cause };
      size = 1;
    } else {
      size = Math.ceil((to - from) / 2);
    }
  }
  return poison;
}

async function rowRefusedBy(attempt: Promise<void>): Promise<RowRefused | null> {
  try {
    await attempt;
    return null;
  } catch (error) {
    if (error instanceof RowRefused) {
      return error;
    }
    throw error;
  }
}
