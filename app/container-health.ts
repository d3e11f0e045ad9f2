import http from 'node:http';
import https from 'node:https';
import { basename } from 'node:path';
import { type ManagementEndpoint, managementEndpoint } from '../contract/actuator.ts';
import { CONTAINER_HEALTH_CHECK } from '../contract/probes.ts';
import { describeProblems } from '../settings/problem.ts';
import { parseCommandLine } from './configuration/command-line.ts';
import { loadSettings, type SettingsSources } from './configuration/load-settings.ts';

/** The result of a container health check, with a line for `docker inspect`. */
interface ContainerHealth {
  readonly isHealthy: boolean;
  readonly message: string;
}

/** Sooner than the container runtime gives up, so that the reason is printed. */
const TIMEOUT_MS = (CONTAINER_HEALTH_CHECK.timeoutSeconds - 1) * 1_000;

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
export function localHealthUrl({ scheme, address, port, healthPath }: ManagementEndpoint): string {
  return `${scheme.toLowerCase()}://${localHost(address)}:${port}${healthPath}`;
}

/** The status that a GET is answered with; a certificate is not verified, since it is not for the address within. */
function statusOf(url: string, timeoutMs: number): Promise<number> {
  const client = url.startsWith('https:') ? https : http;
  const options = { signal: AbortSignal.timeout(timeoutMs), agent: false, rejectUnauthorized: false } as const;
  return new Promise((resolve, reject) => {
    const request = client.get(url, options, (response) => {
      response.destroy();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', reject);
  });
}

async function ask(url: string, timeoutMs: number): Promise<ContainerHealth> {
  try {
    const status = await statusOf(url, timeoutMs);
    return { isHealthy: status >= 200 && status < 300, message: `${url} answered ${status}` };
  } catch (error) {
    const { message, name, code } = error as NodeJS.ErrnoException;
    const reason = name === 'AbortError' ? `no answer in ${timeoutMs} ms` : message || code;
    return { isHealthy: false, message: `${url} did not answer: ${reason}` };
  }
}

/**
 * Asks the consumer in the same container for its health, at the port, base path and scheme of the same configuration.
 * No credential is needed: the status of the health is open.
 *
 * @param timeoutMs time to wait for the answer. @default one second less than the image's HEALTHCHECK allows
 */
export async function containerHealth(sources: SettingsSources, timeoutMs = TIMEOUT_MS): Promise<ContainerHealth> {
  const settings = loadSettings(sources);
  if (!settings.ok) {
    return { isHealthy: false, message: describeProblems(settings.problems) };
  }
  const endpoint = managementEndpoint(settings.value);
  if (endpoint.port === 0) {
    const message = `${endpoint.settings.port} is 0, so nobody outside the consumer knows its port; set one`;
    return { isHealthy: false, message };
  }
  return ask(localHealthUrl(endpoint), timeoutMs);
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
