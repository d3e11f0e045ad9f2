import type { ValueKind } from '../json/json-slice.ts';
import type { ColumnSource, ColumnType, ValueUnit } from '../mapping/table-mapping.ts';
import type { RowColumn } from './row-column.ts';

/** A value by its kind, never by its content. */
const KINDS: Readonly<Record<ValueKind, string>> = {
  string: 'text',
  text: 'text',
  number: 'a number',
  object: 'an object',
  list: 'a list',
  true: 'a boolean',
  false: 'a boolean',
  null: 'null',
};

/** The source of a column's value, by the names that the settings have for it. */
function subjectOf(source: ColumnSource): string {
  switch (source.kind) {
    case 'field':
    case 'event':
      return source.path.length === 0 ? 'the value' : source.path.join('.');
    case 'key':
      return source.path.length === 0 ? 'the key' : `${source.path.join('.')} of the key`;
    case 'header':
      return `the header ${source.name}`;
    default:
      return `the record's ${source.kind}`;
  }
}

/** What a column with a unit takes. */
function takenByUnit(unit: ValueUnit): string {
  if (unit === 'base64' || unit === 'hex') {
    return `text in ${unit}`;
  }
  if (unit === 'json') {
    return 'text that contains JSON';
  }
  if (unit === 'variable-decimal' || unit === 'point') {
    return `an object in the form ${unit}`;
  }
  return unit.startsWith('bits') ? `bits in the form ${unit}` : `a number of ${unit}`;
}

/** What a column without a unit takes. */
function takenByType(type: ColumnType): string {
  switch (type.kind) {
    case 'boolean':
      return 'a boolean';
    case 'integer':
      return `a whole number within ${type.name}`;
    case 'numeric':
    case 'float':
      return `a number within ${type.name}`;
    case 'text':
      return `text within ${type.name}`;
    case 'json':
      return `JSON that ${type.name} can store`;
    case 'bytea':
      return 'text in base64';
    case 'date':
    case 'time':
    case 'timestamp':
      return `text of a ${type.kind} without a word such as now; a number needs a unit, such as as: epoch-millis`;
    case 'array':
      return `a list, or the text of ${type.name}`;
    case 'composite':
      return `an object, or the text of ${type.name}`;
    default:
      return `the text of a value of ${type.name}`;
  }
}

/**
 * Why a value does not fit its column: `placed_at is text; the column takes a number of epoch-millis`. It has the kind
 * of the value and names of the settings and the catalog, never the value.
 *
 * @param kind of the field in the record; `undefined`: bytes, or not known
 */
export function misfitWords({ source, type, unit }: RowColumn, kind: ValueKind | undefined): string {
  const isBytes = source.kind === 'header' || (source.kind === 'key' && source.path.length === 0);
  const is = kind === undefined ? (isBytes ? 'bytes' : null) : KINDS[kind];
  const isDebezium = unit === undefined || unit === 'debezium';
  const takes = isDebezium ? takenByType(type) : takenByUnit(unit);
  const subject = subjectOf(source);
  return is === null ? `of ${subject} the column takes ${takes}` : `${subject} is ${is}; the column takes ${takes}`;
}
