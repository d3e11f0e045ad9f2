import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { endOffsets } from '../orders/sample-producer.ts';
import { CUSTOMERS, ORDERS } from '../orders/sample-tables.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { Screen } from '../run/screen.ts';
import { checkEndpoints } from '../verdict/check-endpoints.ts';
import { compareTables, loadExpected } from '../verdict/compare-tables.ts';
import { count, type Finding, verdictTable } from '../verdict/finding.ts';
import { awaitAccounted, sumOfNext } from '../verdict/positions.ts';
import type { Job } from './job.ts';
import { showProgress } from './progress.ts';
import { changeShop, compareReplicas, waitForEvents, whereToLookAtReplica } from './replica-job.ts';
import { compareSampleTables, loadBrokenChanges, produceChanges, waitForChanges } from './table-job.ts';
import { listenForTrouble } from './trouble.ts';

/** Far below the broker's limit of 1 MB for a batch, even with a large poison record in it. */
const MAX_RECORDS_PER_REQUEST = 2_000;
const PRODUCE_INTERVAL_MS = 200;
const SECOND_MS = 1_000;

/**
 * Produces a fixed number of records, waits until each is accounted for, compares and prints the verdict.
 *
 * @returns the exit code: 0 when all is as it should be, else 1.
 */
export async function runOnce(job: Job, screen: Screen, signal: AbortSignal): Promise<number> {
  const finished = new AbortController();
  const progress = showProgress(job, screen, AbortSignal.any([signal, finished.signal]));
  let findings: readonly Finding[];
  try {
    const startedAt = performance.now();
    await produceOrders(job, signal);
    screen.line(
      `produced    ${count(job.producer.acknowledged)} records in ${seconds(startedAt)}, acknowledged by Kafka`,
    );
    const accounted = await waitForConsumer(job);
    screen.line(`accounted   ${seconds(startedAt)} after the first record was produced; comparing ...`);
    findings = [...accounted, ...(await judge(job))];
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

async function waitForConsumer({ producer, positions, consumer, tables, replica }: Job): Promise<readonly Finding[]> {
  const isAlive = () => !consumer.ended.aborted;
  const orders = await awaitAccounted(endOffsets(producer.records()), () => positions.read(), isAlive);
  const customers = tables === undefined ? [] : [await waitForChanges(tables, isAlive)];
  return [orders, ...customers, ...(replica === undefined ? [] : await waitForEvents(replica, isAlive))];
}

async function judge(job: Job): Promise<readonly Finding[]> {
  const { producer, servers, names, positions, first, tables, replica } = job;
  const consumer = job.consumer.current;
  const client = new pg.Client({ connectionString: servers.databaseUrl });
  await client.connect();
  try {
    await loadExpected(client, names.topic, producer.records());
    const changes = tables === undefined ? [] : [await loadBrokenChanges(client, tables)];
    const compared = await compareTables(client, names);
    // Records of other producers count in the consumer's metric, too.
    const isAlone = sumOfNext(await positions.read()) - sumOfNext(first) === BigInt(producer.acknowledged);
    const consumed = isAlone ? producer.acknowledged : undefined;
    const endpoints = await checkEndpoints((path) => consumer.get(path), consumer.endpoint, names.topic, consumed);
    const typed = tables === undefined ? [] : await compareSampleTables(client, tables, names, isAlone);
    const replicated = replica === undefined ? [] : await compareReplicas(client, replica);
    return [...compared, ...changes, ...typed, ...replicated, endpoints];
  } finally {
    await client.end();
  }
}

const seconds = (since: number): string => `${((performance.now() - since) / 1_000).toFixed(1)} s`;

/**
 * Produces sample orders, takes the commands of `npm run trouble` and shows the progress, until the signal is aborted
 * or the consumer ends.
 *
 * @returns the exit code: 0 after the signal, 1 when the consumer has ended by itself.
 */
export async function runContinuously(run: RunFolder, job: Job, screen: Screen, signal: AbortSignal): Promise<number> {
  await listenForTrouble(run, job, screen);
  for (const line of [...whereToLook(job, screen), ...whatToTry(job, screen)]) {
    screen.line(line);
  }
  const ended = new AbortController();
  const stop = AbortSignal.any([signal, job.consumer.ended, ended.signal]);
  const progress = showProgress(job, screen, stop);
  try {
    await produceOrders(job, stop);
    await progress;
  } finally {
    ended.abort();
    await progress;
  }
  return signal.aborted ? 0 : 1;
}

function whereToLook(
  { consumer: { current }, names, servers, tables, replica }: Job,
  screen: Screen,
): readonly string[] {
  const { healthPath, metricsPath, prometheusPath, infoPath } = current.endpoint;
  const link = (path: string): string => screen.accent(`http://127.0.0.1:${current.port}${path}`);
  return [
    '',
    `  page        ${link('/')}`,
    `  health      ${link(healthPath)}`,
    `  info        ${link(infoPath)}`,
    `  metrics     ${link(metricsPath)}`,
    `  Prometheus  ${link(prometheusPath)}`,
    `  the rows    psql '${servers.psqlUrl}' -c 'SELECT * FROM ${names.schema}.records LIMIT 5'`,
    ...(tables === undefined
      ? []
      : [ORDERS, CUSTOMERS].map(
          ({ name }) => `              psql '${servers.psqlUrl}' -c 'TABLE ${tables.schema}.${name} LIMIT 5'`,
        )),
    ...(replica === undefined ? [] : whereToLookAtReplica(replica, servers)),
    `  Kafka       ${servers.brokers}, topic ${names.topic}, group ${names.group}`,
    '',
  ];
}

function whatToTry({ servers }: Job, screen: Screen): readonly string[] {
  const outage = [
    `    ${screen.accent('npm run trouble -- postgres')}   stops PostgreSQL for 15 s: health DOWN, the lag grows, then nothing is missing`,
  ];
  return [
    '  Make trouble in a second terminal, and see what it does to health, metrics and dead letters:',
    `    ${screen.accent('npm run trouble -- records')}    produces 20 records that are no JSON: dead letters, and health stays UP`,
    ...(servers.postgres === undefined ? [] : outage),
    `    ${screen.accent('npm run trouble -- roll')}       replaces the consumer while orders come, twice, and shows the longest delay of one`,
    '',
    'Ctrl-C stops everything.',
    '',
  ];
}

/**
 * Produces until the number that was asked for is acknowledged, the signal is aborted, or the consumer has ended.
 *
 * @throws Error of the client when the broker stays away.
 */
async function produceOrders(
  { options, producer, consumer, tables, replica }: Job,
  signal: AbortSignal,
): Promise<void> {
  const total = options.records ?? Number.POSITIVE_INFINITY;
  const startedAt = performance.now();
  while (producer.acknowledged < total && !signal.aborted && !consumer.ended.aborted) {
    const elapsed = performance.now() - startedAt + PRODUCE_INTERVAL_MS;
    const due = options.rate === undefined ? total : Math.floor((elapsed * options.rate) / SECOND_MS);
    const count = Math.min(MAX_RECORDS_PER_REQUEST, total - producer.acknowledged, due - producer.acknowledged);
    if (count > 0) {
      await producer.send(count);
      await (tables && produceChanges(tables, producer.acknowledged));
      await (replica && changeShop(replica, producer.acknowledged));
    } else {
      await delay(PRODUCE_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
