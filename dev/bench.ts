import { parseArgs } from 'node:util';
import { Kafka, logLevel } from 'kafkajs';
import { consumeRecords } from './bench/consume-records.ts';
import { copyBaseline } from './bench/copy-baseline.ts';
import { produceRecords } from './bench/produce-records.ts';
import { ExplainedError } from './run/explained-error.ts';
import { startStack } from './stack.ts';

const HELP = `Measures the consumer against what PostgreSQL can take, in one run, with parts of its own.

  npm run bench                              1,000,000 records
  npm run bench -- --records 200000

Options (behind "npm run bench --"):
  --records N      records to produce and write (default: 1000000)
  --partitions N   partitions of the topic (default: 6)
  --set NAME=VALUE environment variable of the consumer, such as CONSUMER_MAX_BATCH_RECORDS=10000; may be repeated
  --help           this text
`;

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    partitions: { type: 'string', default: '6' },
    set: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
});

const rate = (perSecond: number) => `${Math.round(perSecond).toLocaleString('en')} rows/s`;

async function bench(records: number, partitions: number, env: Record<string, string>): Promise<void> {
  const stack = await startStack();
  const end = () => void stack.stop().then(() => process.exit(130));
  process.once('SIGINT', end).once('SIGTERM', end);
  try {
    const broker = stack.kafka?.broker ?? '';
    const kafka = new Kafka({ clientId: 'bench', brokers: [broker], logLevel: logLevel.ERROR });
    console.log(`producing ${records.toLocaleString('en')} records ...`);
    await produceRecords(kafka, { topic: 'orders', partitions, records });
    const baseline = await copyBaseline(stack.postgres?.urlWithPassword ?? '', records);
    console.log(`COPY of ready-made rows, one connection   ${rate(baseline)}`);
    const result = await consumeRecords(stack, 'orders', records, env);
    console.log(`the consumer, Kafka to committed          ${rate(result.rowsPerSecond)}`);
    console.log(`ratio                                     ${(result.rowsPerSecond / baseline).toFixed(2)}`);
    console.log(
      `its processor time and memory             ${result.cpuSeconds.toFixed(1)} s, ${Math.round(result.peakMemoryBytes / 1e6)} MB at most`,
    );
  } finally {
    await stack.stop();
  }
}

if (values.help) {
  process.stdout.write(HELP);
} else {
  const env = Object.fromEntries(values.set.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
  await bench(Number(values.records), Number(values.partitions), env).catch((error: unknown) => {
    process.stderr.write(`${error instanceof ExplainedError ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
