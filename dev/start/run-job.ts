import pg from 'pg';
import { endOffsets, producedRecords } from '../orders/produced-records.ts';
import type { Screen } from '../run/screen.ts';
import { checkEndpoints } from '../verdict/check-endpoints.ts';
import { compareTables } from '../verdict/compare-tables.ts';
import { loadExpected } from '../verdict/expected-rows.ts';
import { count, type Finding, verdictTable } from '../verdict/finding.ts';
import { sumOfNext } from '../verdict/positions.ts';
import { awaitAccounted } from './await-accounted.ts';
import type { Job } from './job.ts';
import { produceOrders } from './produce-orders.ts';
import { showProgress } from './progress.ts';

/**
 * Produces a fixed number of records, waits until each is accounted for, compares and prints the verdict.
 *
 * @returns the exit code: 0 when all is as it should be, else 1.
 */
export async function runOnce(job: Job, screen: Screen, signal: AbortSignal): Promise<number> {
  const finished = new AbortController();
  const progress = showProgress(
    { produced: () => job.producer.acknowledged, read: () => job.positions.read(), first: job.first },
    screen,
    AbortSignal.any([signal, finished.signal]),
  );
  let findings: readonly Finding[];
  try {
    const startedAt = performance.now();
    await produceOrders(job, signal);
    screen.line(
      `produced    ${count(job.producer.acknowledged)} records in ${seconds(startedAt)}, acknowledged by Kafka`,
    );
    const accounted = await waitForConsumer(job);
    screen.line(`accounted   ${seconds(startedAt)} after the first record was produced; comparing ...`);
    findings = [accounted, ...(await judge(job))];
  } finally {
    finished.abort();
    await progress;
  }
  const isWell = findings.every((finding) => finding.isWell);
  for (const line of verdictTable(findings, (text, well) => screen.tint(text, well))) {
    screen.line(line);
  }
  screen.line(screen.tint(isWell ? 'All records are accounted for.' : 'The verdict: something differs.', isWell));
  return isWell ? 0 : 1;
}

function waitForConsumer({ producer, options, partitions, positions, consumerExit }: Job): Promise<Finding> {
  const ends = endOffsets(producer.batches, options.seed, partitions);
  return awaitAccounted(
    ends,
    () => positions.read(),
    () => consumerExit() === undefined,
  );
}

async function judge(job: Job): Promise<readonly Finding[]> {
  const { producer, options, partitions, parts, names, consumer, positions, first } = job;
  const client = new pg.Client({ connectionString: parts.databaseUrl });
  await client.connect();
  try {
    await loadExpected(client, producedRecords(producer.batches, options.seed, partitions));
    const tables = await compareTables(client, names);
    const isAlone = sumOfNext(await positions.read()) - sumOfNext(first) === BigInt(producer.acknowledged);
    const consumed = isAlone ? producer.acknowledged : undefined;
    const endpoints = await checkEndpoints((path) => consumer.get(path), consumer.endpoint, names.topic, consumed);
    return [...tables, endpoints];
  } finally {
    await client.end();
  }
}

const seconds = (since: number): string => `${((performance.now() - since) / 1_000).toFixed(1)} s`;
