import { parseArgs } from 'node:util';
import { closest } from 'fastest-levenshtein';
import { Check } from 'typebox/value';
import { SettingsSchema } from '../../settings/settings.ts';

/** The options of `npm start`. */
export interface StartOptions {
  /** Produce a fixed number, compare, end. */
  readonly once: boolean;
  /** Typed tables of orders and customers, too. */
  readonly tables: boolean;
  /** A source database, Debezium, and a replica, too. */
  readonly cdc: boolean;
  /** Records to produce in all; undefined: without end. */
  readonly records: number | undefined;
  /** Records per second; undefined: as many as possible. */
  readonly rate: number | undefined;
  /** `host:port` of the user's brokers; undefined: start one. */
  readonly kafka: string | undefined;
  /** URL of the user's database; undefined: start one. */
  readonly database: string | undefined;
  readonly topic: string | undefined;
  readonly group: string | undefined;
  readonly schema: string | undefined;
  readonly partitions: number;
  readonly seed: number;
  /** Port of the consumer's HTTP interface; undefined: 8080 when it is free. */
  readonly port: number | undefined;
  /** Show every line that the consumer logs. */
  readonly verbose: boolean;
}

export type ReadOptions =
  | { readonly kind: 'options'; readonly options: StartOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

export const START_HELP = `Runs the whole of stream-consumer on this machine: Kafka, PostgreSQL, the consumer, and sample orders.

  npm start                                  until Ctrl-C
  npm start -- --tables                      orders in a table with typed columns, too, and customers by key
  npm start -- --cdc                         a database that changes, Debezium, and a replica of its tables, too
  npm start -- --once --records 100000       produce, wait, compare, exit 0 or 1

Options (behind "npm start --"):
  --once               produce a fixed number of records, wait until each is accounted for, compare the table with what
                       was produced, ask each HTTP endpoint, print the verdict and exit
  --tables             makes two tables as you would have them, with their settings: orders with typed columns,
                       and customers, a row for each key, from a topic of inserts, updates and deletes; with --once the
                       verdict compares them column by column
  --cdc                starts a second PostgreSQL with a small shop that changes, and Kafka Connect with Debezium, which
                       sends each change to Kafka. The consumer makes a replica of the shop's tables. With --once, the
                       verdict compares them with the source, row by row
  --records N          records to produce: 1 to 100000000 (default: 100000 with --once, else without end)
  --rate N             records per second (default: 500, with --once as many as possible)
  --kafka HOST:PORT    use these brokers (comma-separated) instead of starting one
  --database URL       use this PostgreSQL, postgresql://..., instead of starting one
  --topic NAME         topic, made when absent (default: orders; with --kafka a new one for each run)
  --group NAME         consumer group (default: stream-consumer; with --kafka or --database a new one for each run)
  --schema NAME        schema of the tables (default: stream_consumer; with --database a new one for each run)
  --partitions N       partitions of a topic that is made: 1 to 1000 (default: 6)
  --seed N             another seed gives other orders: 0 to 4294967295 (default: 1)
  --port N             port of the consumer's HTTP interface (default: 8080, or a free one when it is taken)
  --verbose            show everything that the consumer logs
  --help               this text

Exit codes: 0 done or stopped by Ctrl-C; 1 something failed or, with --once, the verdict is bad; 2 wrong options; with
--once 130 (143) when Ctrl-C (SIGTERM) came before the verdict.
`;

const TEXT = { type: 'string' } as const;
const SWITCH = { type: 'boolean' } as const;
const OPTIONS = {
  once: SWITCH,
  tables: SWITCH,
  cdc: SWITCH,
  records: TEXT,
  rate: TEXT,
  kafka: TEXT,
  database: TEXT,
  topic: TEXT,
  group: TEXT,
  schema: TEXT,
  partitions: TEXT,
  seed: TEXT,
  port: TEXT,
  verbose: SWITCH,
  help: { type: 'boolean', short: 'h' },
} as const;

type OptionName = keyof typeof OPTIONS;

const NUMBER_RANGE = {
  records: [1, 100_000_000],
  rate: [1, 1_000_000],
  partitions: [1, 1_000],
  seed: [0, 4_294_967_295],
  port: [1, 65_535],
} as const satisfies Partial<Record<OptionName, readonly [number, number]>>;

const { kafka, database } = SettingsSchema.properties;
const TEXT_RULE = {
  kafka: {
    isValid: (value) => Check(kafka.properties.brokers, value.split(',')),
    allowed: 'host:port, or several of them with commas between',
  },
  database: {
    isValid: (value) => Check(database.properties.url, value) && URL.canParse(value),
    allowed: 'postgresql://USER:PASSWORD@HOST:PORT/DATABASE',
  },
  topic: {
    isValid: (value) => Check(kafka.properties.topics, [value]),
    allowed: '1 to 249 letters, digits, dots, dashes and underscores',
  },
  group: { isValid: (value) => Check(kafka.properties.groupId, value), allowed: '1 to 255 characters' },
  schema: {
    isValid: (value) => Check(database.properties.schema, value),
    allowed: 'a small letter or underscore, then up to 62 small letters, digits and underscores',
  },
} as const satisfies Partial<Record<OptionName, { isValid: (value: string) => boolean; allowed: string }>>;

const DEFAULT = { records: 100_000, rate: 500, partitions: 6, seed: 1 } as const;

/** Reads the command line; all problems are found at once. */
export function readOptions(args: readonly string[]): ReadOptions {
  const { values, tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  if (values['help'] === true) {
    return { kind: 'help' };
  }
  const problems = tokens.flatMap((token) => {
    if (token.kind === 'positional') {
      return [`"${token.value}" is not an option: options begin with --`];
    }
    return token.kind === 'option' ? optionProblems(token) : [];
  });
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'options', options: complete(values) };
}

function optionProblems(token: {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
}) {
  const { name, rawName, value } = token;
  if (!isOptionName(name)) {
    const nearest = closest(name, Object.keys(OPTIONS));
    return [`${rawName} is not an option; the nearest one is --${nearest}`];
  }
  if (OPTIONS[name].type === 'boolean') {
    return value === undefined ? [] : [`${rawName} takes no value, but got "${value}"`];
  }
  if (value === undefined || value === '') {
    return [`${rawName} needs a value: ${allowedValue(name)}`];
  }
  // A database's URL may hold a password.
  const shown = name === 'database' ? 'what was given' : `"${value}"`;
  return isValidValue(name, value) ? [] : [`${rawName}: ${shown} is not allowed; allowed is ${allowedValue(name)}`];
}

const isOptionName = (name: string): name is OptionName => Object.hasOwn(OPTIONS, name);
const hasRange = (name: OptionName): name is keyof typeof NUMBER_RANGE => Object.hasOwn(NUMBER_RANGE, name);
const hasRule = (name: OptionName): name is keyof typeof TEXT_RULE => Object.hasOwn(TEXT_RULE, name);

function isValidValue(name: OptionName, value: string): boolean {
  if (hasRange(name)) {
    const [least, most] = NUMBER_RANGE[name];
    return /^\d+$/.test(value) && Number(value) >= least && Number(value) <= most;
  }
  return !hasRule(name) || TEXT_RULE[name].isValid(value);
}

function allowedValue(name: OptionName): string {
  if (hasRange(name)) {
    return `a whole number from ${NUMBER_RANGE[name].join(' to ')}`;
  }
  return hasRule(name) ? TEXT_RULE[name].allowed : 'no value';
}

function complete(values: Readonly<Record<string, unknown>>): StartOptions {
  const text = (name: OptionName) => (typeof values[name] === 'string' ? values[name] : undefined);
  const number = (name: keyof typeof NUMBER_RANGE) => (text(name) === undefined ? undefined : Number(text(name)));
  const once = values['once'] === true;
  return {
    once,
    tables: values['tables'] === true,
    cdc: values['cdc'] === true,
    records: number('records') ?? (once ? DEFAULT.records : undefined),
    rate: number('rate') ?? (once ? undefined : DEFAULT.rate),
    kafka: text('kafka'),
    database: text('database'),
    topic: text('topic'),
    group: text('group'),
    schema: text('schema'),
    partitions: number('partitions') ?? DEFAULT.partitions,
    seed: number('seed') ?? DEFAULT.seed,
    port: number('port'),
    verbose: values['verbose'] === true,
  };
}
