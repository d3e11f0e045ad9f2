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

/** A row that cannot be stored, and what refused it. */
export interface Poison {
  readonly index: number;
  readonly cause: RowRefused;
}

/**
 * Stores `count` rows without the ones that are refused, and answers with those.
 *
 * The work is linear in the rows, however many are poison: after a refusal the next part is only as long as what was
 * just settled, and it doubles with every part that goes well. A refused part so costs at most twice what was settled
 * before it, and a single poison row among many costs one more pass over the rows before it.
 *
 * @param store rejects with {@link RowRefused} when a row is to blame; everything else ends the attempt
 */
export async function storeWithoutPoison(count: number, store: StoreRange): Promise<Poison[]> {
  const poison: Poison[] = [];
  let size = count;
  for (let from = 0; from < count; ) {
    const to = Math.min(count, from + size);
    const cause = await refusalOf(store(from, to));
    if (cause === null) {
      from = to;
      size *= 2;
    } else if (to - from === 1) {
      poison.push({ index: from, cause });
      from = to;
      size = 1;
    } else {
      size = nextSize(cause, to - from);
    }
  }
  return poison;
}

/** The rows before the named one are good; without a name, the half of the part is tried. */
function nextSize({ index }: RowRefused, size: number): number {
  if (index === null || index >= size) {
    return Math.ceil(size / 2);
  }
  return Math.max(1, index);
}

async function refusalOf(attempt: Promise<void>): Promise<RowRefused | null> {
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
