import {
  contentOf,
  itemsOf,
  type JsonSlice,
  membersOf,
  sentJson,
  valueAt,
} from '../../../app/tables/json/json-slice.ts';
import type { ColumnType } from '../../../app/tables/mapping/table-mapping.ts';

/** Where a column gets something else than jsonb_populate_record would give it. */
interface Difference {
  readonly reason: string;
  readonly holds: (type: ColumnType, value: JsonSlice) => boolean;
  /** The JSON that makes jsonb_populate_record store the same; `null` where the value is refused before it is sent. */
  readonly instead: (value: JsonSlice) => string | null;
}

const SOURCE = (value: JsonSlice): string => JSON.stringify(sentJson(value));
const REFUSED = (): null => null;

const isTime = ({ kind }: ColumnType): boolean => kind === 'date' || kind === 'time' || kind === 'timestamp';

const mayHaveTimes = (type: ColumnType): boolean =>
  isTime(type) ||
  type.name === 'tstzrange' ||
  (type.kind === 'array' && mayHaveTimes(type.element)) ||
  (type.kind === 'composite' && type.attributes.some((attribute) => mayHaveTimes(attribute.type)));

const WORDS_OF_THE_CLOCK = ['now', 'today', 'tomorrow', 'yesterday'];

const dependsOnTheClock = (text: string): boolean =>
  text.split(/[^A-Za-z]+/).some((word) => WORDS_OF_THE_CLOCK.includes(word.toLowerCase()));

/** The bytes of base64 by PostgreSQL's word for them, where it is base64 in full. */
function hexOf(value: JsonSlice): string | null {
  const text = contentOf(value);
  const unpadded = text.replace(/={1,2}$/, '');
  const isOfOneAlphabet = /^[A-Za-z0-9+/]*$/.test(unpadded) || /^[\w-]*$/.test(unpadded);
  const isPadded = text === unpadded || text.length % 4 === 0;
  const bytes = Buffer.from(unpadded, 'base64');
  const isWhole = bytes.toString('base64url') === unpadded.replaceAll('+', '-').replaceAll('/', '_');
  return isOfOneAlphabet && isPadded && isWhole ? JSON.stringify(`\\x${bytes.toString('hex')}`) : null;
}

export const DELIBERATE_DIFFERENCES: readonly Difference[] = [
  {
    reason:
      'text keeps the digits of a number and the JSON of a list or object as they were sent; jsonb writes them anew',
    holds: (type, { kind }) => type.kind === 'text' && ['number', 'list', 'object'].includes(kind),
    instead: SOURCE,
  },
  {
    reason: 'json keeps the JSON as it was sent, and what jsonb cannot hold',
    holds: (type) => type.name === 'json',
    instead: SOURCE,
  },
  {
    reason:
      'a number is made of the digits as they were sent: a float keeps the sign of -0, and numeric(p,s) rounds what is too ' +
      'small for jsonb',
    holds: (type, value) =>
      (type.kind === 'float' || type.kind === 'numeric') &&
      value.kind === 'number' &&
      /^-0|e-?\d{4}/i.test(sentJson(value)),
    instead: SOURCE,
  },
  {
    reason: 'a string for bytea is base64; PostgreSQL takes any text for bytes',
    holds: (type, { kind }) => type.kind === 'bytea' && kind === 'string',
    instead: hexOf,
  },
  {
    reason: 'nothing but a string is bytes; PostgreSQL takes the text of a number, list or object for bytes',
    holds: (type, { kind }) => type.kind === 'bytea' && kind !== 'string',
    instead: REFUSED,
  },
  {
    reason: 'a number without a unit is no date or time; PostgreSQL reads 20240101 as a day, and no other',
    holds: (type, { kind }) => isTime(type) && kind === 'number',
    instead: REFUSED,
  },
  {
    reason: 'what depends on the clock is refused: a replay would store another value',
    holds: (type, value) => value.kind === 'string' && mayHaveTimes(type) && dependsOnTheClock(contentOf(value)),
    instead: REFUSED,
  },
];

/** The JSON that jsonb_populate_record has to get for what a column gets; `null` where the value is refused unsent. */
export function oracleJson(type: ColumnType, value: JsonSlice, used: Set<Difference>): string | null {
  if (value.kind === 'null') {
    return 'null';
  }
  const difference = DELIBERATE_DIFFERENCES.find(({ holds }) => holds(type, value));
  if (difference !== undefined) {
    used.add(difference);
    return difference.instead(value);
  }
  if (type.kind === 'array' && value.kind === 'list') {
    return listJson(type.element, value, dimensionsOf(value), used);
  }
  if (type.kind === 'composite' && value.kind === 'object') {
    const members = membersOf(value);
    const kept = type.attributes.flatMap(({ name, type: of }) => {
      const member = members.get(name);
      return member === undefined ? [] : [{ name: JSON.stringify(name), json: oracleJson(of, member, used) }];
    });
    return kept.some(({ json }) => json === null)
      ? null
      : `{${kept.map(({ name, json }) => `${name}:${json}`).join()}}`;
  }
  return sentJson(value);
}

function dimensionsOf(value: JsonSlice): number {
  const [first] = itemsOf(value);
  return first?.kind === 'list' ? 1 + dimensionsOf(first) : 1;
}

function listJson(element: ColumnType, list: JsonSlice, depth: number, used: Set<Difference>): string | null {
  const items = itemsOf(list).map((item) => {
    if (depth === 1) {
      return oracleJson(element, item, used);
    }
    return item.kind === 'list' ? listJson(element, item, depth - 1, used) : sentJson(item);
  });
  return items.includes(null) ? null : `[${items.join()}]`;
}

/** The values of a JSON object by name. */
export const fieldsOf = (json: string): ReadonlyMap<string, JsonSlice> => membersOf(valueAt(Buffer.from(json), 0));
