/**
 * The image's HEALTHCHECK: exit code 0 when the consumer beside it answers its health with success, 1 otherwise. With a
 * path, such as `health/db` or `prometheus`, it prints what the consumer answers there.
 */
import { readFileSync } from 'node:fs';
import { containerHealth, optionsOfProcess } from './container-health.ts';

/** Empty where there is no such file, or another user's process. */
function commandLineOfProcess1(): string {
  try {
    return readFileSync('/proc/1/cmdline', 'utf8');
  } catch {
    return '';
  }
}

const started = optionsOfProcess(commandLineOfProcess1());
const { isHealthy, message } = await containerHealth(
  { ...started, env: process.env, cwd: process.cwd() },
  process.argv[2],
);
process.stdout.write(`${message}\n`);
process.exitCode = isHealthy ? 0 : 1;
