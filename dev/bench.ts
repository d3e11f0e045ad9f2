import { Kafka, logLevel } from 'kafkajs';
import { megabytes, microseconds, percent, print, rate } from './bench/figures.ts';
import { groupHeading, groupRow, measureScenario, SCENARIO_RUNS } from './bench/group/group.ts';
import { measureIdle } from './bench/idle/idle.ts';
import { benchManyTables } from './bench/many-tables/bench-many-tables.ts';
import { besideProgram, consumerProgram, type MeasuredProgram } from './bench/measured-program.ts';
import { BENCH_HELP, type Benchmark, type BenchOptions, readBenchOptions } from './bench/options.ts';
import { measurePartitions } from './bench/partitions.ts';
import { produceRecords } from './bench/produce-records.ts';
import { COMMIT_TIMES, printDelays } from './bench/record-delays.ts';
import { measureScrapes, type Scrapes, STEADY_RATE } from './bench/scrape/scrape.ts';
import { measureStarts } from './bench/start.ts';
import { measureEncoders } from './bench/throughput/encoders.ts';
import { EVERYDAY_ROWS_QUERY, measureEveryday, printEveryday } from './bench/throughput/everyday.ts';
import { MEASURED_WAYS, measureTables, type WayResult } from './bench/throughput/tables.ts';
import { type ConsumeResult, measureThroughput, median, medianResult } from './bench/throughput/throughput.ts';
import { compileConsumer } from './run/consumer-process.ts';
import { failureText } from './run/explained-error.ts';
import { podEnvironment } from './run/pod-environment.ts';
import { RunFolder, removeLeftoverRuns } from './run/run-folder.ts';
import { Screen } from './run/screen.ts';
import { type Stack, startStack } from './stack/local-stack.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const DEFAULT_RECORDS = 1_000_000;
const DEFAULT_SECONDS = 30;

/** The memory settings of a Pod, where they are asked for; what is set by hand wins. */
const consumerEnvironment = ({ isInPod, set }: BenchOptions) => ({ ...(isInPod && podEnvironment()), ...set });

const kafkaClient = ({ kafka }: Stack) =>
  new Kafka({ clientId: 'bench', brokers: [kafka?.broker ?? ''], logLevel: logLevel.NOTHING });

const measuredPrograms = (stack: Stack, options: BenchOptions, rowsQuery?: string): readonly MeasuredProgram[] => [
  consumerProgram(stack, consumerEnvironment(options), rowsQuery),
  ...(options.beside === undefined ? [] : [besideProgram(stack, options.beside)]),
];

async function benchThroughput(stack: Stack, options: BenchOptions): Promise<void> {
  const { records = DEFAULT_RECORDS, partitions = 6, repeats = 1, request } = options.numbers;
  const requests = request === undefined ? {} : { perRequest: request };
  console.log(`producing ${records.toLocaleString('en')} records ...`);
  await produceRecords(kafkaClient(stack), { topics: ['orders'], partitions, records, ...requests });
  const programs = measuredPrograms(stack, options);
  const plan = { topic: 'orders', records, repeats };
  const { baselines, results } = await measureThroughput(stack, programs, plan, (what, result) =>
    print(what, figuresOf(result, records)),
  );
  const [ours = [], beside] = results;
  const ratio = (of: (nth: number) => number) => median(ours.map((_, nth) => of(nth))).toFixed(2);
  const rateOf = (runs: readonly ConsumeResult[], nth: number) => runs[nth]?.rowsPerSecond ?? Number.NaN;
  const cpuOf = (runs: readonly ConsumeResult[], nth: number) => runs[nth]?.cpuSeconds ?? Number.NaN;
  print('COPY of ready-made rows, one connection', rate(median(baselines)));
  programs.forEach(({ title }, nth) => {
    print(`${title}, Kafka to committed`, figuresOf(medianResult(results[nth] ?? []), records));
  });
  print(
    'ratio to COPY',
    ratio((nth) => rateOf(ours, nth) / (baselines[nth] ?? Number.NaN)),
  );
  if (beside !== undefined) {
    const rows = ratio((nth) => rateOf(ours, nth) / rateOf(beside, nth));
    print(
      `ratio to ${programs[1]?.title}`,
      `${rows} of its rows/s, ${ratio((nth) => cpuOf(ours, nth) / cpuOf(beside, nth))} of its processor time`,
    );
  }
}

const figuresOf = ({ rowsPerSecond, cpuSeconds, peakMemoryBytes }: ConsumeResult, records: number): string => {
  const work = `${cpuSeconds.toFixed(1)} CPU s (${((cpuSeconds * 1e6) / records).toFixed(2)} a million)`;
  return `${rate(rowsPerSecond)}, ${work}, ${megabytes(peakMemoryBytes)} at most`;
};

const EVERYDAY_PARTITIONS = [12, 100];
const EVERYDAY_RATE = 2_000;

async function benchEveryday(stack: Stack, { numbers, ...options }: BenchOptions): Promise<void> {
  const { rate: recordsPerSecond = EVERYDAY_RATE, repeats = 1, seconds = DEFAULT_SECONDS } = numbers;
  const programs = measuredPrograms(stack, { ...options, numbers }, EVERYDAY_ROWS_QUERY);
  for (const partitions of numbers.partitions ? [numbers.partitions] : EVERYDAY_PARTITIONS) {
    const load = { partitions, recordsPerSecond, seconds };
    console.log(`${recordsPerSecond.toLocaleString('en')} records a second in ${partitions} partitions ...`);
    printEveryday(programs, await measureEveryday(stack, programs, { ...load, repeats }));
  }
}

const MANY_PARTITIONS = 1_000;
const RECORDS_INTO_MANY = 100_000;

async function benchPartitions(stack: Stack, options: BenchOptions): Promise<void> {
  const { partitions = MANY_PARTITIONS, records = RECORDS_INTO_MANY, seconds = DEFAULT_SECONDS } = options.numbers;
  console.log(`watching a consumer of ${partitions} partitions for ${seconds} s ...`);
  const plan = { partitions, records, seconds };
  const result = await measurePartitions(stack, plan, consumerEnvironment(options));
  print('at rest', percent(result.idleShare));
  for (const [nth, work] of result.loads.entries()) {
    const beyondRest = work.cpuSeconds - result.idleShare * work.seconds;
    const total = `${work.cpuSeconds.toFixed(1)} CPU s in ${work.seconds.toFixed(1)} s`;
    const what =
      nth === 0 ? `${records.toLocaleString('en')} records in small batches for all of them` : '  the same again';
    print(what, `${total}, ${beyondRest.toFixed(1)} beyond what rest takes`);
  }
  print('a scrape', `${Math.round(Buffer.byteLength(result.scrape) / 1_000)} kB`);
  print('it holds the event loop for at most', 'p50, p90, p99, max');
  print(`  (${result.held.length} scrapes)`, spread(result.held));
  print('  as long without a scrape', spread(result.heldUnscraped));
}

async function benchGroup(stack: Stack, options: BenchOptions): Promise<void> {
  const { members = 5, partitions = 12, rate: recordsPerSecond = 1_000, repeats = 1 } = options.numbers;
  const plan = { members, partitions, recordsPerSecond, env: consumerEnvironment(options) };
  const load = `${partitions} partitions, ${recordsPerSecond.toLocaleString('en')} records a second`;
  const screen = new Screen(process.stdout);
  screen.line(`${members} members, ${load}; seconds from a record's timestamp to the commit of its row`);
  screen.line(groupHeading());
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    for (const [nth, scenario] of options.scenarios.entries()) {
      const title = `${repeats > 1 ? `${repeat}/${repeats} ` : ''}${SCENARIO_RUNS[scenario].title}`;
      const onProgress = (text: string) => screen.status(`${title}: ${text} ...`);
      const result = await measureScenario(stack, scenario, { name: `group_${repeat}_${nth}`, plan, onProgress });
      screen.line(groupRow(title, result));
    }
  }
  if (screen.isTerminal) {
    screen.status('');
  }
  screen.line('Each record that was produced is in the table once.');
}

/** Those that show what records wait for. */
const OF_DELAYS: ReadonlySet<Benchmark> = new Set(['everyday', 'group', 'idle']);

async function benchIdle(stack: Stack, options: BenchOptions): Promise<void> {
  const { seconds = DEFAULT_SECONDS } = options.numbers;
  console.log(`watching for ${seconds} s ...`);
  const { consumer, patchedClient, plainClient, delays } = await measureIdle(
    stack,
    seconds,
    consumerEnvironment(options),
  );
  print('the whole consumer', percent(consumer));
  print('a bare kafkajs consumer with our patches', percent(patchedClient));
  print('a bare kafkajs consumer as it is shipped', percent(plainClient));
  printDelays('a record that comes alone waits for', delays);
}

/** The value that a share of the ascending values lies below. */
const percentile = (ascending: readonly number[], share: number): string =>
  `${(ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? 0).toFixed(1)} ms`;

const spread = (times: readonly number[]): string =>
  [0.5, 0.9, 0.99, 1].map((share) => percentile(times, share)).join(', ');

function printScrapes(what: string, { milliseconds, ofEmptyServer }: Scrapes): void {
  print(`${what} (${milliseconds.length} scrapes)`, spread(milliseconds));
  print('    a server that does nothing, meanwhile', spread(ofEmptyServer));
}

async function benchScrape(stack: Stack, options: BenchOptions): Promise<void> {
  const { records = DEFAULT_RECORDS, partitions = 200 } = options.numbers;
  const kafka = kafkaClient(stack);
  console.log(`producing ${records.toLocaleString('en')} records into ${partitions} partitions ...`);
  await produceRecords(kafka, { topics: ['scraped'], partitions, records });
  const load = { kafka, topics: ['scraped'], partitions, from: records };
  const { series, bytes, compressedBytes, ofBacklog, ofSteadyLoad, atRest, cpuPerScrape } = await measureScrapes(
    stack,
    load,
    consumerEnvironment(options),
  );
  print('series', `${series} in ${Math.round(bytes / 1_000)} kB, ${Math.round(compressedBytes / 1_000)} kB compressed`);
  print('a scrape', 'p50, p90, p99, max');
  printScrapes('  of a backlog', ofBacklog);
  printScrapes(`  of ${STEADY_RATE.toLocaleString('en')} records a second`, ofSteadyLoad);
  printScrapes('  with nothing to do', atRest);
  print('processor time of one scrape', `${cpuPerScrape.toFixed(2)} ms`);
  print('scraping once a second', percent(cpuPerScrape / 1_000));
}

const RECORDS_INTO_TABLES = 300_000;

function printWay(result: WayResult, records: number): void {
  const { rowsPerSecond, cpuSeconds, postgresCpuSeconds, peakMemoryBytes } = result.median;
  const work = `${microseconds(cpuSeconds, records)} + ${microseconds(postgresCpuSeconds, records)} µs a row`;
  print(MEASURED_WAYS[result.way].title, `${rate(rowsPerSecond)}, ${work}, ${megabytes(peakMemoryBytes)}`);
}

async function benchTables(stack: Stack, options: BenchOptions): Promise<void> {
  if (options.counts !== undefined) {
    await benchManyTables(stack, options.counts, options.numbers, consumerEnvironment(options));
    return;
  }
  const { records = RECORDS_INTO_TABLES, partitions = 6, repeats = 5 } = options.numbers;
  const plan = { records, partitions, repeats };
  const env = consumerEnvironment(options);
  const { ways, ratios } = await measureTables(stack, plan, env, (text) => console.log(text));
  print('medians', "rows/s, processor time of the consumer + PostgreSQL, the consumer's memory at most");
  for (const way of ways) {
    printWay(way, records);
  }
  print('ratios of one repeat: median (least to most)', 'goal');
  for (const { what, median, least, most, goal } of ratios) {
    const [middle, low, high] = [median, least, most].map((each) => each.toFixed(2));
    print(`  ${what}`, `${middle} (${low} to ${high})   ${goal}`);
  }
}

async function benchEncoders({ numbers: { repeats = 3 } }: BenchOptions): Promise<void> {
  print('ten columns', 'µs of processor time a record, median and least: to read it from a socket; to encode it');
  const times = ({ median, least }: { readonly median: number; readonly least: number }) =>
    `${median.toFixed(1)}, ${least.toFixed(1)}`;
  for (const { title, bytes, reading, encoding } of await measureEncoders(repeats)) {
    print(`${title}, ${bytes} bytes`, `${times(reading)}; ${times(encoding)}`);
  }
}

const STARTS = 10;

async function benchStart(stack: Stack): Promise<void> {
  const starts = await measureStarts(stack, STARTS);
  const ascending = (figures: readonly number[]) => [...figures].sort((a, b) => a - b);
  const times = ascending(starts.map(({ upMilliseconds }) => upMilliseconds));
  const memory = (bytes: readonly number[]): string => {
    const spread = [0, 0.5, 1].map((share) => ascending(bytes)[Math.floor(share * (bytes.length - 1))] ?? 0);
    return `${spread.map((each) => `${(each / 1e6).toFixed(1)} MB`).join(', ')} (${bytes.length} starts)`;
  };
  print('Node.js', process.versions.node);
  print(
    'process start to health UP: p50, max',
    `${percentile(times, 0.5)}, ${percentile(times, 1)} (${STARTS} starts)`,
  );
  const work = ascending(starts.map(({ cpuMilliseconds }) => cpuMilliseconds));
  print('processor time of that: p50, max', `${percentile(work, 0.5)}, ${percentile(work, 1)}`);
  print('memory 10 s later: least, p50, most', memory(starts.map(({ earlyBytes }) => earlyBytes)));
  print('memory at rest, 60 s later: least, p50, most', memory(starts.flatMap(({ restBytes = [] }) => restBytes)));
}

/** Those that need servers. */
type StackBenchmark = Exclude<Benchmark, 'encoders'>;

const BENCHMARKS: Readonly<Record<StackBenchmark, (stack: Stack, options: BenchOptions) => Promise<void>>> = {
  throughput: benchThroughput,
  everyday: benchEveryday,
  group: benchGroup,
  idle: benchIdle,
  partitions: benchPartitions,
  scrape: benchScrape,
  start: benchStart,
  tables: benchTables,
};

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const read = readBenchOptions(args);
  if (read.kind === 'help') {
    process.stdout.write(BENCH_HELP);
    return 0;
  }
  if (read.kind === 'problems') {
    process.stderr.write(`${read.problems.join('\n')}\nnpm run bench -- --help shows all options.\n`);
    return EXIT_USAGE;
  }
  try {
    await (read.options.benchmark === 'encoders'
      ? benchEncoders(read.options)
      : measure(read.options.benchmark, read.options));
    return 0;
  } catch (error) {
    process.stderr.write(`${failureText(error)}\n`);
    return EXIT_FAILED;
  }
}

async function measure(benchmark: StackBenchmark, options: BenchOptions): Promise<void> {
  await removeLeftoverRuns();
  const run = await RunFolder.create();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      run.abandon();
      process.exit(signal === 'SIGINT' ? 130 : 143);
    });
  }
  const stack = await startStack({
    run,
    ...(OF_DELAYS.has(benchmark) && { postgres: { settings: COMMIT_TIMES } }),
  });
  try {
    await compileConsumer();
    await BENCHMARKS[benchmark](stack, options);
  } finally {
    await stack.stop();
  }
}
