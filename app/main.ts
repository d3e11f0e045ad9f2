#!/usr/bin/env node
import { setTimeout as delay } from 'node:timers/promises';
import { EXIT_CODE } from '../contract/exit-code.ts';
import { PRODUCT_NAME } from '../contract/identity.ts';
import { configure, type Decision } from './commands/configure.ts';
import { productBuild } from './metrics/process/product-build.ts';
import { useModernTls } from './network/tls-profile.ts';

/** The last lines get this long to reach a reader that is slow. */
const LAST_LINES_MS = 1_000;

/** Ends the process when standard output has taken, or refused, what was written last. */
async function exit(code: number): Promise<never> {
  const written = new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  await Promise.race([written, delay(LAST_LINES_MS)]);
  process.exit(process.exitCode ?? code);
}

/**
 * Reports output that could not be written, by words and by the exit code. A reader that went away (EPIPE) is no
 * failure.
 */
function complainOfOutput(): void {
  process.stdout.once('error', ({ code, message }: NodeJS.ErrnoException) => {
    process.stdout.on('error', () => undefined);
    if (code !== 'EPIPE') {
      process.stderr.write(
        `${PRODUCT_NAME}: standard output takes nothing (${message}); send it elsewhere or make room\n`,
      );
      process.exitCode ||= EXIT_CODE.failed;
    }
  });
}

/** Calls `onFirst` at the first SIGTERM or SIGINT; the second ends the process at once. */
function onSignal(onFirst: (signal: string) => void): void {
  let isSecond = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isSecond) {
        process.exit(EXIT_CODE.failed);
      }
      isSecond = true;
      onFirst(signal);
    });
  }
}

/**
 * The signal handlers come first, since process 1 of a container ignores signals without one. The application is loaded
 * only here, so that `--help`, `--check` and a wrong configuration answer without its libraries.
 */
async function run({ settings, warnings, reload }: Extract<Decision, { kind: 'run' }>): Promise<number> {
  let stop = (_signal: string): void => process.exit(EXIT_CODE.ok);
  onSignal((signal) => stop(signal));
  const { Application } = await import('./application.ts');
  const application = new Application(settings, productBuild(), reload);
  stop = (signal) => void application.stop(signal);
  void application.start(warnings);
  return application.ended;
}

/** A closed standard output interrupts a command as a signal does: nothing more is done unseen. */
function interruption(): AbortSignal {
  const ending = new AbortController();
  onSignal((signal) => ending.abort(signal));
  process.stdout.on('error', () => ending.abort('SIGPIPE'));
  return ending.signal;
}

// Where standard error is closed, the exit code still reports an error.
process.stderr.on('error', () => undefined);
useModernTls();
const decision = configure(process.argv.slice(2), process.env, process.cwd());
if (decision.kind !== 'run') {
  complainOfOutput();
}
if (decision.kind === 'exit') {
  process.exitCode = decision.code;
  process.stdout.write(decision.stdout ?? '');
  process.stderr.write(decision.stderr ?? '');
} else if (decision.kind === 'command') {
  const streams = { out: process.stdout, err: process.stderr };
  await exit(await decision.request.run(decision.settings, { ...streams, interruption }));
} else {
  await exit(await run(decision));
}
