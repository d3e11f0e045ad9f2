import { expect } from '@jest/globals';
import { valueAt } from '../../../../app/tables/json/json-slice.ts';
import type { ColumnType, MappedColumn, Unit } from '../../../../app/tables/mapping/table-mapping.ts';
import { CopyText } from '../../../../app/tables/rows/copy-text.ts';
import { type RowColumn, rowColumn } from '../../../../app/tables/rows/row-column.ts';
import { RowText } from '../../../../app/tables/rows/row-text.ts';

export const typeOf = (kind: Exclude<ColumnType['kind'], 'array' | 'composite'>, name: string = kind): ColumnType => ({
  kind,
  name,
});

export const listOf = (element: ColumnType): ColumnType => ({
  kind: 'array',
  name: `${element.name}[]`,
  element,
  delimiter: ',',
});

export const column = (type: ColumnType, more: Partial<MappedColumn> = {}): RowColumn =>
  rowColumn({
    name: 'c',
    type,
    source: { kind: 'field', path: ['c'] },
    isNotNull: false,
    hasDefault: false,
    ...more,
  });

/** Bytes in the middle of others. */
export const bytes = (row: RowText, of: RowColumn, content: Buffer) =>
  row.bytes(of, Buffer.concat([Buffer.from([0xff, 0]), content, Buffer.from([0xff, 0])]), 2, content.length);

/** The field that a call writes, or in angle brackets why it writes none. */
export function fieldOf(write: (row: RowText) => string | null, takesDefaults = true): string {
  const rows = new CopyText(8);
  const refusal = write(new RowText(rows, takesDefaults));
  const field = rows.slice(0, Math.max(0, rows.end - 1)).toString('utf8');
  if (refusal !== null) {
    expect(rows.end).toBe(0);
  }
  return refusal === null ? field : `<${refusal}>`;
}

export const json = (type: ColumnType, value: string, unit?: Unit) =>
  fieldOf((row) => row.json(column(type, unit === undefined ? {} : { unit }), valueAt(Buffer.from(value), 0)));
