/**
 * The image's HEALTHCHECK: exit code 0 when the consumer beside it answers its health with success, 1 otherwise. With a
 * path, such as `health/db` or `prometheus`, it prints what the consumer answers there.
 */
import { once } from 'node:events';
import { readFileSync, realpathSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type ManagementEndpoint, managementEndpoint } from '../contract/actuator.ts';
import { CONTAINER_HEALTH_CHECK } from '../contract/probes.ts';
import { describeProblems } from '../settings/schema/problem.ts';
import type { Settings } from '../settings/settings.ts';
import { parseCommandLine } from './commands/command-line.ts';
import { loadSettings, type SettingsSources } from './configuration/load-settings.ts';

/** The result of a container health check, with a line for `docker inspect`. */
interface ContainerHealth {
  readonly isHealthy: boolean;
  readonly message: string;
}

/** Sooner than the container runtime gives up, so that the reason is printed. */
const HEALTH_ANSWER_MS = (CONTAINER_HEALTH_CHECK.timeoutSeconds - 1) * 1_000;

/** The server's address as it is reached from inside the container. */
function localHost(address: string): string {
  if (address === '0.0.0.0') {
    return '127.0.0.1';
  }
  if (address === '::') {
    return '[::1]';
  }
  return address.includes(':') ? `[${address}]` : address;
}

/** URL of the consumer's health on this machine. */
export const localHealthUrl = (endpoint: ManagementEndpoint): string => localUrl(endpoint, endpoint.healthPath);

const localUrl = ({ scheme, address, port }: ManagementEndpoint, path: string): string =>
  `${scheme.toLowerCase()}://${localHost(address)}:${port}${path}`;

/** A request to the consumer in the same container. */
interface Question {
  readonly url: string;
  readonly headers: http.OutgoingHttpHeaders;
  readonly timeoutMs: number;
}

/** A GET's answer; a certificate is not verified, since it is not for the address within. */
async function answerTo({ url, headers, timeoutMs }: Question): Promise<{ status: number; body: string }> {
  const client = url.startsWith('https:') ? https : http;
  const signal = AbortSignal.timeout(timeoutMs);
  const request = client.get(url, { headers, signal, agent: false, rejectUnauthorized: false });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  return { status: response.statusCode ?? 0, body: await text(response) };
}

async function askConsumer(question: Question, messageOf: (answer: { status: number; body: string }) => string) {
  const { url, timeoutMs } = question;
  try {
    const answer = await answerTo(question);
    return { isHealthy: answer.status >= 200 && answer.status < 300, message: messageOf(answer) };
  } catch (error) {
    const { message, name, code } = error as NodeJS.ErrnoException;
    const reason = name === 'AbortError' ? `no answer in ${timeoutMs} ms` : message || code;
    return { isHealthy: false, message: `${url} did not answer: ${reason}` };
  }
}

/** What shows everything, of the settings that the consumer compares it with. */
function authorization({ token, username, password }: Settings['management']['security']): http.OutgoingHttpHeaders {
  if (token !== undefined) {
    return { authorization: `Bearer ${token}` };
  }
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  return username === undefined ? {} : { authorization: `Basic ${basic}` };
}

/**
 * Asks the consumer in the same container, at the port, base path and scheme of the same configuration and with its
 * credential.
 *
 * @param path an endpoint below the base path, whose answer is the message, such as `health/db` or `prometheus`.
 * @default the health, whose status is the message
 * @param timeoutMs time to wait for the answer. @default one second less than the image's HEALTHCHECK allows
 */
export async function containerHealth(
  sources: SettingsSources,
  path?: string,
  timeoutMs = HEALTH_ANSWER_MS,
): Promise<ContainerHealth> {
  const settings = loadSettings(sources);
  if (!settings.ok) {
    return { isHealthy: false, message: describeProblems(settings.problems) };
  }
  const endpoint = managementEndpoint(settings.value);
  if (endpoint.port === 0) {
    const message = `${endpoint.settings.port} is 0, so nobody outside the consumer knows its port; set one`;
    return { isHealthy: false, message };
  }
  const url = path === undefined ? localHealthUrl(endpoint) : localUrl(endpoint, `${endpoint.basePath}/${path}`);
  const question = { url, headers: authorization(settings.value.management.security), timeoutMs };
  return askConsumer(question, ({ status, body }) => (path === undefined ? `${url} answered ${status}` : body));
}

/** The consumer's file, under its name in the image's ENTRYPOINT. */
const PROGRAM = 'main.js';

/**
 * The options of another process that name its configuration.
 *
 * @param commandLine a `/proc/PID/cmdline`: words that each end with NUL. The command line of an init holds that of the
 * consumer, too; one without the consumer gives no options.
 */
export function optionsOfProcess(commandLine: string): Pick<SettingsSources, 'configFile' | 'configTree'> {
  const words = commandLine.split('\0').slice(0, -1);
  const program = words.findIndex((word) => basename(word) === PROGRAM);
  const { config, configTree } = parseCommandLine(program === -1 ? [] : words.slice(program + 1));
  return { configFile: config, configTree };
}

/** Empty where there is no such file, or another user's process. */
function commandLineOfProcess1(): string {
  try {
    return readFileSync('/proc/1/cmdline', 'utf8');
  } catch {
    return '';
  }
}

/** Whether Node.js runs this file, and no other file imports it, such as a test. */
const isProgram = realpathSync(process.argv[1] ?? '') === fileURLToPath(import.meta.url);

if (isProgram) {
  const started = optionsOfProcess(commandLineOfProcess1());
  const { isHealthy, message } = await containerHealth(
    { ...started, env: process.env, cwd: process.cwd() },
    process.argv[2],
  );
  process.stdout.write(`${message}\n`);
  process.exitCode = isHealthy ? 0 : 1;
}
