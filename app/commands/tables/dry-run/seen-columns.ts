import { NEWLINE, TAB } from '../../../records/ascii.ts';
import type { TableMapping } from '../../../tables/mapping/table-mapping.ts';
import { mayKeep } from '../../../tables/table/stage-columns.ts';

/** What rows have for one column of a table. */
interface ColumnCounts {
  values: number;
  nulls: number;
  defaults: number;
  kept: number;
}

/** What is worth a look about the columns of a table. */
export interface ColumnFindings {
  /** With its schema. */
  readonly table: string;
  /** Rows that were looked at: those that delete are left out. */
  readonly rows: number;
  /** Columns that no row has a value for. */
  readonly withoutValue: readonly string[];
  /** Columns with a default that may be NULL and never are: the producer may have put its default there. */
  readonly neverNull: readonly string[];
  /** Columns that keep what the table has, as placeholders came for them. */
  readonly kept: readonly string[];
}

const NULL_TEXT = '\\N';
const DEFAULT_TEXT = '\\D';

/** Counts what rows have for each column, by their COPY text. */
export class SeenColumns {
  readonly #mapping: TableMapping;
  readonly #counts: readonly ColumnCounts[];
  #rows = 0;

  constructor(mapping: TableMapping) {
    this.#mapping = mapping;
    this.#counts = mapping.columns.map(() => ({ values: 0, nulls: 0, defaults: 0, kept: 0 }));
  }

  /** Takes one row; a tab or a line feed of a value is escaped in it. */
  add(row: Buffer): void {
    this.#rows += 1;
    const end = row.at(-1) === NEWLINE ? row.length - 1 : row.length;
    const kept = this.#keptBits(row, end);
    let start = 0;
    for (const [nth, counts] of this.#counts.entries()) {
      const tab = row.indexOf(TAB, start);
      const fieldEnd = tab < 0 || tab > end ? end : tab;
      const marker = fieldEnd - start === NULL_TEXT.length ? row.toString('latin1', start, fieldEnd) : '';
      if (kept[nth] === '1') {
        counts.kept += 1;
      } else if (marker === NULL_TEXT) {
        counts.nulls += 1;
      } else if (marker === DEFAULT_TEXT) {
        counts.defaults += 1;
      } else {
        counts.values += 1;
      }
      start = fieldEnd + 1;
    }
  }

  get findings(): ColumnFindings {
    const { schema, table, columns, envelope } = this.#mapping;
    const named = columns.map((column, nth) => ({
      ...column,
      ...(this.#counts[nth] ?? { values: 0, nulls: 0, defaults: 0, kept: 0 }),
    }));
    const namesOf = (found: typeof named): readonly string[] => found.map(({ name }) => name);
    const mayLackNull = named.filter(({ isNotNull, hasDefault }) => envelope !== undefined && hasDefault && !isNotNull);
    return {
      table: `${schema}.${table}`,
      rows: this.#rows,
      withoutValue: namesOf(named.filter(({ values, kept }) => values + kept === 0)),
      neverNull: namesOf(mayLackNull.filter(({ values, nulls }) => values > 0 && nulls === 0)),
      kept: namesOf(named.filter(({ kept }) => kept > 0)),
    };
  }

  /** The last field of a row that a stage takes, where rows may keep columns: a bit for each column. */
  #keptBits(row: Buffer, end: number): string {
    const isKept = this.#mapping.stage !== null && mayKeep(this.#mapping);
    return isKept ? row.toString('latin1', row.lastIndexOf(TAB, end - 1) + 1, end) : '';
  }
}
