import { contentOf, type JsonSlice, sentJson, type ValueKind } from '../../../tables/json/json-slice.ts';

/** What is known of the values for a column. */
export interface KnownValue {
  /** The type that takes them, as SQL. */
  readonly type: string;
  /** Whether each record has a value. */
  readonly isNotNull: boolean;
  /** Why the type is a guess. Left out: it is none. */
  readonly guess?: string;
  /** What a person may add. */
  readonly note?: string;
}

/** What the bigint of PostgreSQL holds. */
const BIGINT = { least: -(2n ** 63n), most: 2n ** 63n - 1n } as const;

/** Of the years 2001 to 2099, in milliseconds since 1970: other numbers are seldom all in there. */
const PLAUSIBLE_TIMES = { from: Date.UTC(2001), to: Date.UTC(2100) } as const;

/** Units of so many for each millisecond. */
const EPOCH_UNITS: readonly (readonly [unit: string, perMillisecond: bigint])[] = [
  ['epoch-millis', 1n],
  ['epoch-micros', 1_000n],
  ['epoch-nanos', 1_000_000n],
];

const WITH_ZONE = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d(:?\d\d)?)$/;
const WITHOUT_ZONE = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?$/;
const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

const isDate = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/** Types that texts may be of, and what shows it. */
const TEXTS: readonly (readonly [type: string, words: string, isOf: (text: string) => boolean])[] = [
  ['timestamptz', 'a time with a zone in ISO 8601', (text) => WITH_ZONE.test(text)],
  ['timestamp', 'a time without a zone in ISO 8601', (text) => WITHOUT_ZONE.test(text)],
  ['date', 'a date in ISO 8601', isDate],
  ['uuid', 'a UUID', (text) => UUID.test(text)],
];

/** Kinds of values, as a person calls them. */
type SeenKind = 'whole numbers' | 'numbers' | 'texts' | 'true or false' | 'objects' | 'lists';

const SEEN_KINDS: Readonly<Partial<Record<ValueKind, SeenKind>>> = {
  number: 'numbers',
  string: 'texts',
  text: 'texts',
  true: 'true or false',
  false: 'true or false',
  object: 'objects',
  list: 'lists',
};

const TYPE_BY_KIND: Readonly<Record<SeenKind, string>> = {
  'whole numbers': 'bigint',
  numbers: 'numeric',
  texts: 'text',
  'true or false': 'boolean',
  objects: 'jsonb',
  lists: 'jsonb',
};

/** What takes values of several kinds. */
function typeOfKinds(kinds: readonly SeenKind[]): string {
  const types = [...new Set(kinds.map((kind) => TYPE_BY_KIND[kind]))];
  const [first = 'text'] = types;
  if (types.length <= 1) {
    return first;
  }
  return types.includes('jsonb') ? 'jsonb' : types.every((type) => /bigint|numeric/.test(type)) ? 'numeric' : 'text';
}

/** What was seen of the values of one field. */
export class SeenValues {
  readonly #kinds = new Set<SeenKind>();
  /** Types that all texts so far may be of. */
  #texts = TEXTS;
  /** Units that all numbers so far may have. */
  #units = EPOCH_UNITS;
  #isTooLarge = false;
  #values = 0;

  /** Takes one value; `null` is none. */
  add(value: JsonSlice): void {
    const kind = SEEN_KINDS[value.kind];
    if (kind === undefined) {
      return;
    }
    this.#values += 1;
    if (kind === 'texts') {
      const text = contentOf(value);
      this.#texts = this.#texts.filter(([, , isOf]) => isOf(text));
    }
    this.#kinds.add(kind === 'numbers' ? this.#kindOfNumber(sentJson(value)) : kind);
  }

  /** @param records that were looked at */
  known(records: number, path: string): KnownValue {
    const kinds = [...this.#kinds].filter((kind) => kind !== 'whole numbers' || !this.#kinds.has('numbers'));
    const seen = `${this.#values.toLocaleString('en')} of ${records.toLocaleString('en')} records`;
    if (kinds.length === 0) {
      return { type: 'text', isNotNull: false, guess: `null or missing in each of the records, so text is a guess` };
    }
    const isTooLarge = this.#isTooLarge && kinds.length === 1;
    const type = isTooLarge ? 'numeric' : typeOfKinds(kinds);
    return { type, isNotNull: false, guess: `${kinds.join(', ')} in ${seen}${this.#offer(kinds, path)}` };
  }

  #kindOfNumber(text: string): SeenKind {
    if (!/^-?\d+$/.test(text)) {
      this.#units = [];
      return 'numbers';
    }
    const number = BigInt(text);
    this.#isTooLarge ||= number < BIGINT.least || number > BIGINT.most;
    this.#units = this.#units.filter(
      ([, per]) => number >= BigInt(PLAUSIBLE_TIMES.from) * per && number < BigInt(PLAUSIBLE_TIMES.to) * per,
    );
    return 'whole numbers';
  }

  /** A better type that may be meant: it is offered, and not taken. */
  #offer(kinds: readonly SeenKind[], path: string): string {
    const [text] = this.#texts;
    const [unit] = this.#units;
    if (kinds.length === 1 && kinds[0] === 'texts' && text !== undefined) {
      return `; ${text[0]}? each is ${text[1]}`;
    }
    return kinds.length === 1 && kinds[0] === 'whole numbers' && unit !== undefined
      ? `; timestamptz? as a time with {from: ${path}, as: ${unit[0]}} in columns`
      : '';
  }
}
