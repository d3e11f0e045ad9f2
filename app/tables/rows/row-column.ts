import type { JsonKind } from '../json/json-lexer.ts';
import type { ValueKind } from '../json/json-slice.ts';
import { isOfEpoch } from '../json/time-text.ts';
import {
  type ColumnSource,
  type ColumnType,
  isOfDebezium,
  type MappedColumn,
  type TableEnvelope,
  type ValueUnit,
} from '../mapping/table-mapping.ts';
import { hasTimes } from './column-text.ts';
import { isAskedFor } from './unit-text.ts';

/**
 * How the bytes of a JSON value become the text of a column: `converted` as {@link textOf} does, else as they were
 * sent:
 *
 * - `content`: what is between the quotes of a string, without its escapes
 * - `dated`: the same of a string that has none, and no word of the clock
 * - `numbered`: the same that begins with no letter
 * - `digits`: a number without an exponent or the sign of a zero
 * - `text`: a text without NUL, with escapes where COPY needs them
 * - `epoch`: a point in time of an integer that a number holds
 *
 * Where that is not so, they are converted, too. So is what is `dated` by Debezium, where its year has a sign or begins
 * with two zeros.
 */
export type Way =
  | 'converted'
  | 'asSent'
  | 'plain'
  | 'content'
  | 'dated'
  | 'datedByDebezium'
  | 'numbered'
  | 'digits'
  | 'text'
  | 'epoch';
type JsonWays = Readonly<Record<JsonKind, Way>>;
type Ways = Readonly<Record<ValueKind, Way>>;

/** A column, and what follows from its type for every value. */
export interface RowColumn extends Omit<MappedColumn, 'unit'> {
  /** Left out: the type says how the text of a value is read. */
  readonly unit?: ValueUnit;
  readonly ways: Ways;
  /** Whether text in UTF-8 without NUL needs no conversion. */
  readonly takesText: boolean;
  /** Whether digits need no conversion. */
  readonly takesDigits: boolean;
  /** What a record's timestamp is to it; `null`: a number. */
  readonly time: 'date' | 'time' | 'timestamp' | null;
}

/** @param byEnvelope the unit of a column that has none, where its type asks for it. @default none */
export function rowColumn({ unit: given, ...column }: MappedColumn, byEnvelope?: ValueUnit): RowColumn {
  const { type } = column;
  const unit = given ?? (byEnvelope !== undefined && isAskedFor(byEnvelope, type) ? byEnvelope : undefined);
  const { kind } = type;
  const isPlain = unit === undefined && kind !== 'bytea';
  const isWhole = kind === 'array' || kind === 'composite';
  return {
    ways: withText(unit === undefined ? waysOf(type) : waysByUnit(type, unit)),
    takesText: isPlain && kind !== 'json' && !hasTimes(type),
    takesDigits: isPlain && !isOfTimes(type) && !isWhole,
    time: kind === 'date' || kind === 'time' || kind === 'timestamp' ? kind : null,
    ...(unit !== undefined && { unit }),
    ...column,
  };
}

/** A text needs no conversion where the content of a string needs none. */
const withText = (ways: JsonWays): Ways => ({ text: ways.string === 'content' ? 'text' : 'converted', ...ways });

const CONVERTED: JsonWays = {
  string: 'converted',
  number: 'converted',
  object: 'converted',
  list: 'converted',
  true: 'converted',
  false: 'converted',
  null: 'converted',
};

/** JSON within a string is its content; a number of a point in time is read without a string of its digits. */
function waysByUnit(type: ColumnType, unit: ValueUnit): JsonWays {
  if (unit === 'debezium') {
    return debeziumWays(type);
  }
  if (unit === 'json') {
    return type.kind === 'json' ? { ...waysOf(type), string: 'content' } : CONVERTED;
  }
  return isOfEpoch(unit) && isOfTimes(type) ? { ...CONVERTED, number: 'epoch' } : CONVERTED;
}

const isOfTimes = ({ kind }: ColumnType): boolean => kind === 'date' || kind === 'time' || kind === 'timestamp';

/** As Debezium writes values without a unit. */
const debeziumWays = (type: ColumnType): JsonWays => ({
  ...waysOf(type),
  ...(type.kind === 'numeric' || type.kind === 'float' ? { string: 'numbered' } : {}),
  ...(type.kind === 'date' || type.kind === 'timestamp' ? { string: 'datedByDebezium' } : {}),
  ...(type.kind === 'other' ? { true: 'converted', false: 'converted' } : {}),
});

/** Nearly always the bytes of a value are its text, and that is a fraction of the work of making text of them. */
function waysOf(type: ColumnType): JsonWays {
  switch (type.kind) {
    case 'json':
      return {
        string: 'asSent',
        number: 'asSent',
        object: 'asSent',
        list: 'asSent',
        true: 'asSent',
        false: 'asSent',
        null: 'converted',
      };
    case 'text':
      return {
        string: 'content',
        number: 'plain',
        object: 'asSent',
        list: 'asSent',
        true: 'plain',
        false: 'plain',
        null: 'converted',
      };
    case 'array':
    case 'composite':
    case 'bytea':
      return CONVERTED;
    case 'date':
    case 'time':
    case 'timestamp':
      return { ...CONVERTED, string: 'dated' };
    case 'numeric':
    case 'float':
      return { ...CONVERTED, string: 'content', number: 'plain' };
    default:
      return {
        ...CONVERTED,
        string: hasTimes(type) ? 'converted' : 'content',
        number: 'digits',
        true: 'plain',
        false: 'plain',
      };
  }
}

/** A column whose values are read as the schema of each record says, unless the settings say how. */
export class TypedColumn {
  readonly #column: MappedColumn;
  /** Where a schema says nothing. */
  readonly #untyped: RowColumn;
  /** What was said last: records of one schema follow each other. */
  #unit: ValueUnit | undefined;
  #typed: RowColumn;

  constructor(column: MappedColumn, envelope: TableEnvelope | undefined) {
    this.#column = column;
    this.#untyped = rowColumn(column, isOfDebezium(envelope) ? 'debezium' : undefined);
    this.#typed = this.#untyped;
  }

  /** @param unit what a schema says; `undefined`: nothing */
  by(unit: ValueUnit | undefined): RowColumn {
    if (unit !== this.#unit) {
      this.#unit = unit;
      this.#typed = unit === undefined ? this.#untyped : rowColumn(this.#column, unit);
    }
    return this.#typed;
  }
}

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
