import type { Screen } from '../run/screen.ts';
import type { Job } from './job.ts';
import { produceOrders } from './produce-orders.ts';
import { showProgress } from './progress.ts';

/**
 * Produces sample orders and shows how far all has come, until the signal is aborted or the consumer ends.
 *
 * @returns the exit code: 0 after the signal, 1 when the consumer has ended by itself.
 */
export async function runContinuously(job: Job, screen: Screen, signal: AbortSignal): Promise<number> {
  for (const line of whereToLook(job)) {
    screen.line(line);
  }
  const ended = new AbortController();
  const stop = AbortSignal.any([signal, ended.signal]);
  void job.consumer.exited.then(() => ended.abort());
  const progress = showProgress(
    { produced: () => job.producer.acknowledged, read: () => job.positions.read(), first: job.first },
    screen,
    stop,
  );
  try {
    await produceOrders(job, stop);
    await progress;
  } finally {
    ended.abort();
    await progress;
  }
  return signal.aborted ? 0 : 1;
}

function whereToLook({ consumer, names, parts }: Job): readonly string[] {
  const { healthPath, metricsPath, prometheusPath, infoPath } = consumer.endpoint;
  const base = `http://127.0.0.1:${consumer.port}`;
  return [
    '',
    `  health      ${base}${healthPath}`,
    `  info        ${base}${infoPath}`,
    `  metrics     ${base}${metricsPath}`,
    `  Prometheus  ${base}${prometheusPath}`,
    `  the rows    psql '${parts.psqlUrl}' -c 'SELECT * FROM ${names.schema}.records LIMIT 5'`,
    `  Kafka       ${parts.brokers}, topic ${names.topic}, group ${names.group}`,
    '',
    'Ctrl-C stops everything.',
    '',
  ];
}
