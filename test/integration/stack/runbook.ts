import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ALERTS } from '../../../contract/alerts.ts';
import { COMPILED_PROGRAMS } from '../../../dev/run/consumer-process.ts';
import { sharedDatabaseUrl } from './shared-stack.ts';
import type { StartedConsumer } from './start-consumer.ts';
import { testRun } from './test-run.ts';

const REPOSITORY = resolve(import.meta.dirname, '..', '..', '..');
/** What is `/app` in the image. */
const IMAGE_FOLDER = resolve(COMPILED_PROGRAMS, '..', '..');

/**
 * In the place of kubectl, since no cluster is there: one Pod, with the log of the consumer as its log, and whose
 * programs run beside the consumer, with its configuration.
 */
const KUBECTL = `#!/bin/bash
shift 2
case "$1" in
logs) sed 's|^|[pod/orders-consumer-0/consumer] |' "$CONSUMER_LOG" ;;
get) echo pod/orders-consumer-0 ;;
exec) shift 3 && cd ${IMAGE_FOLDER} && exec "$@" ;;
*) echo "no cluster is there for: $*" >&2; exit 64 ;;
esac
`;

/** The shell's text under "First five minutes": names and functions, and behind an empty line the commands. */
function firstFiveMinutes(alert: keyof typeof ALERTS): { functions: string; commands: readonly string[] } {
  const text = readFileSync(join(REPOSITORY, 'docs', 'runbooks', `${alert}.md`), 'utf8');
  const [, shell = ''] = /## First five minutes\n\n```sh\n([\s\S]*?)```/.exec(text) ?? [];
  const [functions = '', commands = ''] = shell.split('\n\n');
  // A line that ends within double quotes goes on in the next one.
  const whole = commands.trim().split(/\n(?=(?:[^"]*"[^"]*")*[^"]*$)/);
  return { functions, commands: whole };
}

/** A consumer that a runbook is read for, and where it reads. */
interface Reader {
  readonly consumer: StartedConsumer;
  /** @default the shared PostgreSQL */
  readonly databaseUrl?: string;
  /** Base URL of a Prometheus. @default none */
  readonly prometheus?: string;
}

/**
 * Runs a command of a runbook as it stands there, and gives what it prints.
 *
 * @param beginning how the command begins. @default the first command
 */
export async function runbookCommand(alert: keyof typeof ALERTS, reader: Reader, beginning = ''): Promise<string> {
  const { functions, commands } = firstFiveMinutes(alert);
  const command = commands.find((one) => one.startsWith(beginning));
  const folder = await mkdtemp(join((await testRun()).path, 'runbook-'));
  const log = join(folder, 'consumer.log');
  const { consumer, databaseUrl = sharedDatabaseUrl(), prometheus = '' } = reader;
  await writeFile(log, `${consumer.logs.all.join('\n')}\n`);
  await writeFile(join(folder, 'kubectl'), KUBECTL);
  await chmod(join(folder, 'kubectl'), 0o755);
  const script = `${functions}\n${prometheus && `PROMETHEUS=${prometheus}`}\n${command}\n`;
  const env = {
    PATH: `${folder}:${process.env['PATH']}`,
    CONSUMER_LOG: log,
    CONFIG_FILE: consumer.configFile,
    SERVER_PORT: String(consumer.port),
    DATABASE_URL: databaseUrl,
  };
  // A Pod that is not UP makes the command fail, and prints none the less.
  return new Promise((printed) => {
    execFile('bash', ['--norc', '-c', script], { env }, (_error, stdout, stderr) => printed(`${stdout}${stderr}`));
  });
}
