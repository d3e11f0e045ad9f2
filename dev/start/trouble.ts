import { randomBytes } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { METRICS } from '../../contract/metrics.ts';
import { POISON_KINDS } from '../orders/sample-record.ts';
import { failureText } from '../run/explained-error.ts';
import { readLines } from '../run/log-lines.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { Screen } from '../run/screen.ts';
import { count } from '../verdict/finding.ts';
import { awaitAccounted, sumOfNext } from '../verdict/positions.ts';
import type { Job } from './job.ts';
import { rollConsumer } from './roll.ts';

/** The file of a run's folder by which `npm run trouble` reaches it: a socket that only its owner may write to. */
export const TROUBLE_SOCKET = 'trouble.sock';
const BROKEN_RECORDS = 20;
/** The reason of POISON_KINDS[0]. */
const REASON = 'invalid_json';
const SHOWN_LETTERS = 3;

/** What `npm run trouble` asks for, as one line of JSON. */
export type Trouble =
  | { readonly kind: 'records' }
  | { readonly kind: 'roll' }
  | { readonly kind: 'postgres'; readonly seconds: number };

type Say = (line: string) => void;

/** Takes the commands of `npm run trouble` until the run ends; one at a time. */
export async function listenForTrouble(run: RunFolder, job: Job, screen: Screen): Promise<void> {
  const path = join(run.path, TROUBLE_SOCKET);
  const ended = new AbortController();
  let current: Promise<void> | undefined;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    readLines(socket, (line) => {
      if (current !== undefined) {
        socket.end('There is trouble already: one after the other.\n');
        return;
      }
      current = answer(socket, line, job, screen, ended.signal).finally(() => {
        current = undefined;
      });
    });
  });
  await listen(server, path);
  run.beforeClose(async () => {
    ended.abort();
    server.close();
    await current;
  });
}

async function listen(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  await chmod(path, 0o600);
  server.unref();
}

async function answer(socket: Socket, line: string, job: Job, screen: Screen, ended: AbortSignal): Promise<void> {
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  const say: Say = (text) => socket.writable && socket.write(`${text}\n`);
  try {
    const trouble = JSON.parse(line) as Trouble;
    if (trouble.kind === 'records') {
      screen.line(`trouble     ${BROKEN_RECORDS} records that are no JSON`);
      await breakRecords(job, say);
    } else if (trouble.kind === 'roll') {
      screen.line('trouble     the consumer is replaced while orders come, twice');
      await rollConsumer(job, screen, say);
      await job.consumer.current.waitForHealth();
      await showHealth(job, say);
    } else {
      await stopPostgres(job, trouble.seconds, { say, screen, signal: AbortSignal.any([ended, gone.signal]) });
    }
  } catch (error) {
    say(failureText(error));
  }
  socket.end();
}

/** Produces records that do not parse, and waits until they are in the table of dead letters. */
async function breakRecords(job: Job, say: Say): Promise<void> {
  const { names, partitions, servers } = job;
  const [poison] = POISON_KINDS;
  const key = `broken-${randomBytes(4).toString('hex')}`;
  const messages = Array.from({ length: BROKEN_RECORDS }, (_, nth) => ({
    partition: nth % partitions,
    key,
    value: poison?.value ?? null,
  }));
  const producer = servers.kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  const acknowledged = await producer.send({ topic: names.topic, messages }).finally(() => producer.disconnect());
  say(`produced      ${BROKEN_RECORDS} records to ${names.topic}, their value: ${poison?.value?.toString()}`);
  const sent = (partition: number) => messages.filter((message) => message.partition === partition).length;
  const ends = acknowledged.map(
    ({ partition, baseOffset }) => [partition, BigInt(baseOffset ?? 0) + BigInt(sent(partition))] as const,
  );
  await awaitAccounted(
    new Map(ends),
    () => job.positions.read(),
    () => !job.consumer.ended.aborted,
  );
  await showLetters(job, key, say);
  await showHealth(job, say);
  await showMetric(job, `${METRICS.deadLetters.name}?tag=reason:${REASON}`, say);
}

async function showLetters({ servers, names }: Job, key: string, say: Say): Promise<void> {
  const client = new pg.Client({ connectionString: servers.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ place: string; reason: string; error: string }>(
      `SELECT topic || '/' || partition || '/' || "offset" AS place, reason, error FROM "${names.schema}".dead_letters
       WHERE key = $1 ORDER BY partition, "offset"`,
      [Buffer.from(key)],
    );
    say(`dead letters  ${rows.length} of them, each with its reason, in ${names.schema}.dead_letters:`);
    for (const { place, reason, error } of rows.slice(0, SHOWN_LETTERS)) {
      say(`                ${place}  ${reason}: ${error}`);
    }
    say(
      `                psql '${servers.psqlUrl}' -c 'SELECT topic, partition, "offset", reason, error FROM ${names.schema}.dead_letters ORDER BY failed_at DESC LIMIT 5'`,
    );
  } finally {
    await client.end();
  }
}

/** Stops PostgreSQL, starts it again after a while or when the asker is gone, and waits until nothing is missing. */
async function stopPostgres(
  job: Job,
  seconds: number,
  { say, screen, signal }: { readonly say: Say; readonly screen: Screen; readonly signal: AbortSignal },
): Promise<void> {
  const { postgres } = job.servers;
  if (postgres === undefined) {
    say('PostgreSQL was not started by npm start but is yours (--database): stop and start it yourself.');
    return;
  }
  const over = delay(seconds * 1_000, undefined, { signal }).catch(() => undefined);
  screen.line(`trouble     PostgreSQL is stopped for ${seconds} s`);
  await postgres.stop();
  try {
    say(`PostgreSQL    stopped for ${seconds} s; what Kafka has stays there, ahead of the stored offsets`);
    await Promise.race([over, job.consumer.current.waitForHealth(503).then(() => showHealth(job, say))]);
    await over;
    await showMetric(job, METRICS.recordsLag.name, say);
  } finally {
    await postgres.start();
    screen.line('trouble     PostgreSQL is started again');
  }
  say('PostgreSQL    started again');
  await job.consumer.current.waitForHealth();
  await showHealth(job, say);
  await showCaughtUp(job, say);
}

async function showCaughtUp({ positions, consumer }: Job, say: Say): Promise<void> {
  const before = await positions.read();
  const behind = [...before.end.values()].reduce((total, end) => total + end, 0n) - sumOfNext(before);
  const startedAt = performance.now();
  const { isWell, details } = await awaitAccounted(
    before.end,
    () => positions.read(),
    () => !consumer.ended.aborted,
  );
  const elapsed = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const lines = isWell
    ? [
        `caught up     ${elapsed} s later: the ${count(behind)} records that were still ahead are written, none is missing`,
      ]
    : details;
  lines.forEach(say);
}

async function showHealth({ consumer: { current } }: Job, say: Say): Promise<void> {
  const answer = await current.get(current.endpoint.healthPath);
  const { status, components } = (await answer.json()) as {
    status: string;
    components?: { db?: { status: string; details?: object } };
  };
  const db = components?.db;
  const details = db && db.status !== 'UP' ? `, because of db: ${JSON.stringify(db.details)}` : '';
  say(`health        ${answer.status} ${status}${details}`);
}

/** The value of a metric, with the link that shows it. */
async function showMetric({ consumer: { current } }: Job, metric: string, say: Say): Promise<void> {
  const path = `${current.endpoint.metricsPath}/${metric}`;
  const answer = await current.get(path);
  if (!answer.ok) {
    say(`metric        ${metric} is not there`);
    return;
  }
  const { measurements } = (await answer.json()) as { measurements: { statistic: string; value: number }[] };
  const values = measurements.map(({ value }) => count(value)).join(', ');
  say(`metric        ${metric} = ${values}   http://127.0.0.1:${current.port}${path}`);
}
