import { parseArgs } from 'node:util';
import { Kafka, logLevel } from 'kafkajs';
import { measureIdle } from './bench/idle.ts';
import { produceRecords } from './bench/produce-records.ts';
import { measureScrapes, type Scrapes, STEADY_RATE } from './bench/scrape.ts';
import { measureStarts } from './bench/start.ts';
import { MEASURED_WAYS, measureTables, type WayResult } from './bench/tables.ts';
import { consumeRecords, copyBaseline } from './bench/throughput.ts';
import { compileConsumer } from './run/consumer-process.ts';
import { ExplainedError } from './run/explained-error.ts';
import { RunFolder, removeLeftoverRuns } from './run/run-folder.ts';
import { type Stack, startStack } from './stack/local-stack.ts';

const HELP = `Measures the consumer, in one run, with a Kafka and a PostgreSQL of its own.

  npm run bench                              1,000,000 records: the consumer beside COPY of ready-made rows
  npm run bench -- --records 200000
  npm run bench -- idle                      what doing nothing costs
  npm run bench -- scrape                    scrapes of a consumer of 200 partitions, while it works and after that
  npm run bench -- tables                    300,000 records into tables of your own, beside records, several times
  npm run bench -- start                     the image's bundle: from process start to UP, and memory when idle

Options (behind "npm run bench --"):
  --records N      records to produce and write (default: 1000000; of tables: 300000)
  --partitions N   partitions of the topic (default: 6; of scrape: 200)
  --repeats N      how often tables are measured, each way once at a time; the medians are told (default: 5)
  --seconds N      how long to watch the idle consumer (default: 30)
  --set NAME=VALUE environment variable of the consumer, such as CONSUMER_MAX_BATCH_RECORDS=10000; may be repeated
  --help           this text
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    records: { type: 'string' },
    repeats: { type: 'string', default: '5' },
    partitions: { type: 'string' },
    seconds: { type: 'string', default: '30' },
    set: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
});

function print(what: string, figure: string): void {
  console.log(`${what.padEnd(52)}${figure}`);
}

const DEFAULT_RECORDS = 1_000_000;

const consumerEnvironment = () => Object.fromEntries(values.set.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));

const rate = (perSecond: number) => `${Math.round(perSecond).toLocaleString('en')} rows/s`;
const percent = (share: number) => `${(share * 100).toFixed(1)} % of a core`;

async function benchThroughput(stack: Stack): Promise<void> {
  const [records, partitions] = [Number(values.records ?? DEFAULT_RECORDS), Number(values.partitions ?? 6)];
  const env = consumerEnvironment();
  const kafka = new Kafka({ clientId: 'bench', brokers: [stack.kafka?.broker ?? ''], logLevel: logLevel.NOTHING });
  console.log(`producing ${records.toLocaleString('en')} records ...`);
  await produceRecords(kafka, { topic: 'orders', partitions, records });
  const baseline = await copyBaseline(stack.postgres?.urlWithPassword ?? '', records);
  print('COPY of ready-made rows, one connection', rate(baseline));
  const { rowsPerSecond, cpuSeconds, peakMemoryBytes } = await consumeRecords(
    stack,
    { topics: ['orders'] },
    records,
    env,
  );
  print('the consumer, Kafka to committed', rate(rowsPerSecond));
  print('ratio', (rowsPerSecond / baseline).toFixed(2));
  print('its processor time and memory', `${cpuSeconds.toFixed(1)} s, ${Math.round(peakMemoryBytes / 1e6)} MB at most`);
}

async function benchIdle(stack: Stack): Promise<void> {
  console.log(`watching for ${values.seconds} s ...`);
  const { consumer, patchedClient, plainClient } = await measureIdle(stack, Number(values.seconds));
  print('the whole consumer', percent(consumer));
  print('a bare kafkajs consumer with our patches', percent(patchedClient));
  print('a bare kafkajs consumer as it is shipped', percent(plainClient));
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

async function benchScrape(stack: Stack): Promise<void> {
  const [records, partitions] = [Number(values.records ?? DEFAULT_RECORDS), Number(values.partitions ?? 200)];
  const kafka = new Kafka({ clientId: 'bench', brokers: [stack.kafka?.broker ?? ''], logLevel: logLevel.NOTHING });
  console.log(`producing ${records.toLocaleString('en')} records into ${partitions} partitions ...`);
  await produceRecords(kafka, { topic: 'scraped', partitions, records });
  const load = { kafka, topic: 'scraped', partitions, from: records };
  const { series, bytes, compressedBytes, ofBacklog, ofSteadyLoad, atRest, cpuPerScrape } = await measureScrapes(
    stack,
    load,
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

const microseconds = (seconds: number, records: number): string => ((seconds * 1e6) / records).toFixed(1);

function printWay(result: WayResult, records: number): void {
  const { rowsPerSecond, cpuSeconds, postgresCpuSeconds, peakMemoryBytes } = result.median;
  const work = `${microseconds(cpuSeconds, records)} + ${microseconds(postgresCpuSeconds, records)} µs a row`;
  print(MEASURED_WAYS[result.way].title, `${rate(rowsPerSecond)}, ${work}, ${Math.round(peakMemoryBytes / 1e6)} MB`);
}

async function benchTables(stack: Stack): Promise<void> {
  const records = Number(values.records ?? RECORDS_INTO_TABLES);
  const plan = { records, partitions: Number(values.partitions ?? 6), repeats: Number(values.repeats) };
  const { ways, ratios } = await measureTables(stack, plan, consumerEnvironment(), (text) => console.log(text));
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

const STARTS = 10;

async function benchStart(stack: Stack): Promise<void> {
  const starts = await measureStarts(stack, STARTS);
  const ascending = (figures: readonly number[]) => [...figures].sort((a, b) => a - b);
  const times = ascending(starts.map(({ upMilliseconds }) => upMilliseconds));
  const memory = ascending(starts.map(({ idleBytes }) => idleBytes / 1e6));
  const [least = 0, middle = 0, most = 0] = [0, 0.5, 1].map((share) => memory[Math.floor(share * (STARTS - 1))]);
  print('Node.js', process.versions.node);
  print(
    'process start to health UP: p50, max',
    `${percentile(times, 0.5)}, ${percentile(times, 1)} (${STARTS} starts)`,
  );
  const work = ascending(starts.map(({ cpuMilliseconds }) => cpuMilliseconds));
  print('processor time of that: p50, max', `${percentile(work, 0.5)}, ${percentile(work, 1)}`);
  print('memory when idle: least, p50, most', [least, middle, most].map((each) => `${each.toFixed(0)} MB`).join(', '));
}

const BENCHMARKS: Readonly<Record<string, (stack: Stack) => Promise<void>>> = {
  throughput: benchThroughput,
  idle: benchIdle,
  scrape: benchScrape,
  start: benchStart,
  tables: benchTables,
};

async function main(): Promise<void> {
  const { [positionals[0] ?? 'throughput']: bench } = BENCHMARKS;
  if (bench === undefined) {
    throw new ExplainedError(
      `There is no benchmark ${positionals[0]}: known are ${Object.keys(BENCHMARKS).join(', ')}.`,
    );
  }
  await removeLeftoverRuns();
  const run = await RunFolder.create();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      run.abandon();
      process.exit(signal === 'SIGINT' ? 130 : 143);
    });
  }
  const stack = await startStack({ run });
  try {
    await compileConsumer();
    await bench(stack);
  } finally {
    await stack.stop();
  }
}

if (values.help) {
  process.stdout.write(HELP);
} else {
  await main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof ExplainedError ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
