import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { COMPILED_PROGRAMS } from '../../../dev/run/consumer-process.ts';
import { folderWith } from '../../app/configuration/folder.ts';

const MAIN = join(COMPILED_PROGRAMS, 'main.js');

/** What the command finds where it runs. */
export interface CommandPlace {
  /** Environment variables beside PATH. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** Files in its working folder, by name. @default none */
  readonly files?: Readonly<Record<string, string>>;
  /** Shell commands that end with `exec "$@"`, which becomes the command. @default none */
  readonly shell?: string;
}

/** The compiled consumer's process with these arguments, in a folder of its own. */
export function startCommand(args: readonly string[], { env = {}, files = {}, shell }: CommandPlace = {}) {
  const command = [process.execPath, MAIN, ...args];
  const [program = '', ...rest] = shell === undefined ? command : ['bash', '-c', shell, 'bash', ...command];
  return spawn(program, rest, {
    cwd: folderWith(files),
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The same, until it has ended: what it said, and its exit code. */
export async function runCommand(args: readonly string[], place: CommandPlace = {}) {
  const child = startCommand(args, place);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { stdout, stderr, code: code as number };
}

/** Environment of a command that asks PostgreSQL alone: Kafka is named, and is nowhere. */
export const databaseEnvironment = (url: string, schema: string): Readonly<Record<string, string>> => ({
  KAFKA_BROKERS: 'nowhere.invalid:9092',
  KAFKA_TOPICS: 'orders',
  KAFKA_GROUP_ID: 'g',
  DATABASE_URL: url,
  DATABASE_SCHEMA: schema,
});
