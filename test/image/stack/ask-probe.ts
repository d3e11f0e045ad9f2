import { setTimeout as delay } from 'node:timers/promises';
import type { ManifestProbe } from './manifest-flags.ts';

/**
 * Asks as the kubelet does: first after the initial delay, then once in each period, each time with the probe's own timeout.
 *
 * @param startedAt when the container was started, in milliseconds
 * @returns the HTTP status of each answer; 0 where none came
 */
export async function askProbe(
  probe: ManifestProbe,
  host: string,
  startedAt: number,
  times: number,
): Promise<number[]> {
  const { httpGet, initialDelaySeconds, periodSeconds, timeoutSeconds } = probe;
  const url = `${httpGet.scheme.toLowerCase()}://${host}:${httpGet.port}${httpGet.path}`;
  const statuses: number[] = [];
  for (let round = 0; round < times; round += 1) {
    await delay(startedAt + (initialDelaySeconds + round * periodSeconds) * 1_000 - Date.now());
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutSeconds * 1_000) }).catch(() => undefined);
    await answer?.body?.cancel();
    statuses.push(answer?.status ?? 0);
  }
  return statuses;
}
