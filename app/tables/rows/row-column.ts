import type { JsonKind } from '../json/json-lexer.ts';
import type { ValueKind } from '../json/json-slice.ts';
import { isOfEpoch } from '../json/number-text.ts';
import type { ColumnType, MappedColumn, ValueUnit } from '../mapping/table-mapping.ts';
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
    ...column,
    ...(unit !== undefined && { unit }),
    ways: withText(unit === undefined ? waysOf(type) : waysByUnit(type, unit)),
    takesText: isPlain && kind !== 'json' && !hasTimes(type),
    takesDigits: isPlain && !isOfTimes(type) && !isWhole,
    time: kind === 'date' || kind === 'time' || kind === 'timestamp' ? kind : null,
  };
}

/** A text needs no conversion where the content of a string needs none. */
const withText = (ways: JsonWays): Ways => ({ ...ways, text: ways.string === 'content' ? 'text' : 'converted' });

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
