import type { Unit } from './table-mapping.ts';

/** What a column is written from, as the settings have it; `false`: never written. */
export type ColumnSetting = false | { readonly from: string; readonly as?: Unit };

/** A checked entry of the setting `tables`. */
export interface TableSettings {
  readonly topics: readonly string[];
  readonly schema: string;
  readonly table: string;
  readonly fields: 'same' | 'camelCase';
  readonly columns: Readonly<Record<string, ColumnSetting>>;
}
