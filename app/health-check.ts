/** The image's HEALTHCHECK: exit code 0 when the consumer beside it answers its health with success, 1 otherwise. */
import { containerHealth } from './container-health.ts';

const { isHealthy, message } = await containerHealth({ env: process.env, cwd: process.cwd() });
process.stdout.write(`${message}\n`);
process.exitCode = isHealthy ? 0 : 1;
