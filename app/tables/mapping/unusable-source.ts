import { type Problem, problemIf } from '../../../settings/schema/problem.ts';
import type { ColumnSetting, WholeValue } from '../../../settings/sections/tables.ts';
import type { ColumnSource, ColumnType, Unit } from './table-mapping.ts';

type ColumnKind = ColumnType['kind'];

/** The type that decides how a unit is read: elements of an array are read one by one. */
const elementOf = (type: ColumnType): ColumnType => (type.kind === 'array' ? elementOf(type.element) : type);

/** Types whose text is one word or number: a record's value is an object, as a rule. */
const SINGLE: readonly ColumnKind[] = [
  'boolean',
  'integer',
  'numeric',
  'float',
  'bytea',
  'date',
  'time',
  'timestamp',
  'interval',
];

const NUMBER_KINDS: readonly ColumnKind[] = ['integer', 'numeric', 'float', 'text', 'json'];

/**
 * What Kafka says of a record, and the types that have room for it. An `other` type may be an enum or a domain's base.
 */
const OF_KAFKA = {
  topic: { is: 'a text', fits: ['text', 'json', 'other'] },
  partition: { is: 'a number', fits: NUMBER_KINDS },
  offset: { is: 'a number', fits: NUMBER_KINDS },
  timestamp: { is: 'a point in time', fits: ['timestamp', 'date', 'text', 'json'] },
} as const satisfies Readonly<Record<string, { readonly is: string; readonly fits: readonly ColumnKind[] }>>;

const KIND_NAMES: Readonly<Record<ColumnKind, string>> = {
  boolean: 'boolean',
  integer: 'smallint, integer or bigint',
  numeric: 'numeric',
  float: 'real or double precision',
  text: 'text',
  json: 'json or jsonb',
  bytea: 'bytea',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp or timestamptz',
  interval: 'interval',
  other: 'enum',
  array: 'array',
  composite: 'composite',
};

/** @param other what else than its kinds the column may be. @default an enum, where any other type is */
const columnOf = (kinds: readonly ColumnKind[], other = KIND_NAMES.other): string =>
  `a column of type ${kinds.map((kind) => (kind === 'other' ? other : KIND_NAMES[kind])).join(', ')}`;

/** By what the whole value is: in words, and the columns for it. A text may be of any type. */
const WHOLE = {
  object: {
    is: 'an object',
    fits: ({ kind }: ColumnType) => !SINGLE.includes(kind),
    allowed: `${columnOf(['json', 'text', 'composite', 'array'])}; or the path of a field`,
  },
  schema: {
    is: 'an object or bytes',
    fits: ({ kind }: ColumnType) => kind === 'bytea' || !SINGLE.includes(kind),
    allowed: `${columnOf(['json', 'text', 'composite', 'array', 'bytea'])}; or the path of a field`,
  },
  text: { is: 'a text', fits: () => true, allowed: 'any' },
  bytes: {
    is: 'bytes',
    fits: ({ kind }: ColumnType) => kind === 'bytea' || !SINGLE.includes(kind),
    allowed: columnOf(['bytea', 'json', 'text']),
  },
} as const satisfies Readonly<Record<WholeValue, object>>;

/** A source of which no value ever fits the type. @param whole what the values of the topics are */
export function sourceProblem(
  path: string,
  { from }: Exclude<ColumnSetting, false>,
  source: ColumnSource,
  { type, whole }: { readonly type: ColumnType; readonly whole: WholeValue },
): readonly Problem[] {
  if (source.kind === 'field') {
    const { is, fits, allowed } = WHOLE[whole];
    const message = `takes the whole value, ${is}, and is of the type ${type.name}`;
    return problemIf(source.path.length === 0 && !fits(type), { path, message, given: from, allowed });
  }
  if (source.kind === 'key' || source.kind === 'header' || source.kind === 'event') {
    return [];
  }
  const { is, fits }: { readonly is: string; readonly fits: readonly ColumnKind[] } = OF_KAFKA[source.kind];
  return problemIf(!fits.includes(type.kind), {
    path,
    message: `takes ${is}, and is of the type ${type.name}`,
    given: from,
    allowed: columnOf(fits),
  });
}

const TIMES: readonly ColumnKind[] = ['date', 'time', 'timestamp'];

/** The types that each unit makes a text for; an `other` type may be an extension's, or bits or a point. */
function typesOf(unit: Unit): readonly ColumnKind[] {
  switch (unit) {
    case 'base64':
    case 'hex':
      return ['bytea'];
    case 'time-millis':
    case 'time-micros':
    case 'time-nanos':
      return ['time'];
    case 'duration-micros':
      return ['interval'];
    case 'json':
      return ['json', 'other'];
    case 'bits':
      return ['other', 'text'];
    case 'point':
      return ['other'];
    case 'epoch-days':
      return ['date', 'timestamp'];
    case 'epoch-seconds':
    case 'epoch-millis':
    case 'epoch-micros':
    case 'epoch-nanos':
      return TIMES;
    default:
      return ['numeric', 'float', 'text', 'other'];
  }
}

/** The types that a unit is for and that have no kind. */
const OTHER_TYPES: Readonly<Partial<Record<Unit, string>>> = {
  json: 'hstore',
  bits: 'bit or bit varying',
  point: 'point, geometry or geography',
};

/** A unit that says nothing about values of the type. */
export function unitProblem(path: string, unit: Unit | undefined, type: ColumnType): readonly Problem[] {
  if (unit === undefined) {
    return [];
  }
  const types = typesOf(unit);
  return problemIf(!types.includes(elementOf(type).kind), {
    path: `${path}.as`,
    message: `is no unit of the type ${type.name}`,
    given: unit,
    allowed: `${columnOf(types, OTHER_TYPES[unit] ?? 'money')}, or an array of it; or no unit`,
  });
}
