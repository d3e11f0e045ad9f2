import { parseArgs } from 'node:util';
import { Kafka, logLevel } from 'kafkajs';
import { consumeRecords } from './bench/consume-records.ts';
import { copyBaseline } from './bench/copy-baseline.ts';
import { measureIdle } from './bench/idle.ts';
import { produceRecords } from './bench/produce-records.ts';
import { compileConsumer } from './compile-consumer.ts';
import { ExplainedError } from './run/explained-error.ts';
import { removeLeftoverRuns } from './run/leftover-runs.ts';
import { RunFolder } from './run/run-folder.ts';
import { type Stack, startStack } from './stack.ts';

const HELP = `Measures the consumer, in one run, with a Kafka and a PostgreSQL of its own.

  npm run bench                              1,000,000 records: the consumer beside COPY of ready-made rows
  npm run bench -- --records 200000
  npm run bench -- idle                      what doing nothing costs

Options (behind "npm run bench --"):
  --records N      records to produce and write (default: 1000000)
  --partitions N   partitions of the topic (default: 6)
  --seconds N      how long to watch the idle consumer (default: 30)
  --set NAME=VALUE environment variable of the consumer, such as CONSUMER_MAX_BATCH_RECORDS=10000; may be repeated
  --help           this text
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    records: { type: 'string', default: '1000000' },
    partitions: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '30' },
    set: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
});

function print(what: string, figure: string): void {
  console.log(`${what.padEnd(50)}${figure}`);
}

const rate = (perSecond: number) => `${Math.round(perSecond).toLocaleString('en')} rows/s`;
const percent = (share: number) => `${(share * 100).toFixed(1)} % of a core`;

async function benchThroughput(stack: Stack): Promise<void> {
  const [records, partitions] = [Number(values.records), Number(values.partitions)];
  const env = Object.fromEntries(values.set.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
  const kafka = new Kafka({ clientId: 'bench', brokers: [stack.kafka?.broker ?? ''], logLevel: logLevel.ERROR });
  console.log(`producing ${records.toLocaleString('en')} records ...`);
  await produceRecords(kafka, { topic: 'orders', partitions, records });
  const baseline = await copyBaseline(stack.postgres?.urlWithPassword ?? '', records);
  print('COPY of ready-made rows, one connection', rate(baseline));
  const { rowsPerSecond, cpuSeconds, peakMemoryBytes } = await consumeRecords(stack, 'orders', records, env);
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

async function main(): Promise<void> {
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
    await compileConsumer(run);
    await (positionals[0] === 'idle' ? benchIdle(stack) : benchThroughput(stack));
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
