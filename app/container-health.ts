import { managementEndpoint } from '../contract/actuator.ts';
import { CONTAINER_HEALTH_CHECK } from '../contract/probes.ts';
import { describeProblem } from '../contract/problem.ts';
import type { Settings } from '../contract/settings.ts';
import { loadSettings, type SettingsSources } from './configuration/load-settings.ts';

/** What a container health check says: its exit code, and a line for `docker inspect`. */
export interface ContainerHealth {
  readonly isHealthy: boolean;
  readonly message: string;
}

/** Sooner than the container runtime gives up, so that the reason is told. */
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
export function localHealthUrl(settings: Pick<Settings, 'server'>): string {
  const { scheme, port, healthPath } = managementEndpoint(settings);
  return `${scheme.toLowerCase()}://${localHost(settings.server.address)}:${port}${healthPath}`;
}

async function ask(url: string, timeoutMs: number): Promise<ContainerHealth> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    await response.body?.cancel();
    return { isHealthy: response.ok, message: `${url} answered ${response.status}` };
  } catch (error) {
    const { message, cause } = error as Error & { cause?: Error };
    const reason = cause?.message || message;
    return { isHealthy: false, message: `${url} did not answer: ${reason}` };
  }
}

/**
 * Asks the consumer in the same container for its health, at the port that it found in the same configuration.
 *
 * @param timeoutMs time to wait for the answer. @default one second less than the image's HEALTHCHECK allows
 */
export async function containerHealth(sources: SettingsSources, timeoutMs = TIMEOUT_MS): Promise<ContainerHealth> {
  const settings = loadSettings(sources);
  if (!settings.ok) {
    return { isHealthy: false, message: settings.problems.map(describeProblem).join('\n') };
  }
  if (settings.value.server.port === 0) {
    return { isHealthy: false, message: 'server.port is 0, so nobody outside the consumer knows its port; set one' };
  }
  return ask(localHealthUrl(settings.value), timeoutMs);
}
