/** What a real KEDA makes of the lag that it sees: as many Pods as there is work for, and not as there are records. */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { BEGIN } from '../../app/store/connection/transaction.ts';
import { ExplainedError } from '../run/explained-error.ts';
import type { Kubectl } from './kubectl.ts';
import { wantedPods } from './ownership-checks.ts';
import { PARTITIONS, RECORDS_PER_SECOND } from './record-checks.ts';
import { WRITTEN } from './tested-consumer.ts';

const MOST_PODS = 3;

/**
 * A tenth of the default, so that few records make three Pods, and the records of two seconds at the rate of the test:
 * hints every 5 s would look like a lag that wants a second Pod.
 */
const LAG_PER_REPLICA = 2 * RECORDS_PER_SECOND;

const POLL_MS = 1_000;

/** Kubernetes doubles the number of Pods once a minute at most, and looks every 15 s. */
const SCALE_LIMIT_MS = 300_000;

/** Six looks of Kubernetes. */
const STEADY_MS = 90_000;

/** `partitions` and `scaling` of the tested consumer: KEDA without the patience that spares a group rebalances. */
export const KEDA_SCALING = {
  partitions: PARTITIONS,
  scaling: {
    keda: {
      maxReplicas: MOST_PODS,
      lagPerReplica: LAG_PER_REPLICA,
      pollingIntervalSeconds: 1,
      behavior: { scaleUpWindowSeconds: 0, scaleDownWindowSeconds: 0, scaleDownPeriodSeconds: 15 },
    },
  },
};

/** Why no KEDA can be tested in the cluster; `undefined` where one can. */
export async function kedaAbsence(kubectl: Pick<Kubectl, 'text' | 'run'>): Promise<string | undefined> {
  const kinds = await kubectl.text('api-resources', '--api-group=keda.sh', '--output', 'name');
  if (!kinds.includes('scaledobjects')) {
    return 'not run: the cluster has no CRDs of KEDA';
  }
  const { code } = await kubectl.run(['get', '--raw', '/apis/external.metrics.k8s.io/v1beta1']);
  return code === 0
    ? undefined
    : 'not run: the cluster has CRDs of KEDA, and no KEDA that serves external.metrics.k8s.io';
}

/** A consumer that KEDA scales. */
interface Scaled {
  readonly kubectl: Kubectl;
  readonly namespace: string;
  readonly deployment: string;
}

/** The lag that KEDA reports to Kubernetes; none when it does not answer. */
async function lagSeen({ kubectl, namespace, deployment }: Scaled): Promise<readonly number[]> {
  const selector = `labelSelector=${encodeURIComponent('scaledobject.keda.sh/name')}%3D${deployment}`;
  const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${namespace}/s0-kafka-${WRITTEN.topic}?${selector}`;
  const { code, stdout } = await kubectl.run(['get', '--raw', path]);
  const { items = [] } = code === 0 ? (JSON.parse(stdout) as { items?: { value: string }[] }) : {};
  return items.map(({ value }) => quantity(value));
}

const SCALES: Readonly<Record<string, number>> = { m: 0.001, k: 1_000, M: 1_000_000 };

/** A number as Kubernetes writes it, such as `1500m` or `2k`. */
export function quantity(text: string): number {
  const scale = SCALES[text.at(-1) ?? ''];
  return scale === undefined ? Number(text) : Number(text.slice(0, -1)) * scale;
}

async function untilPods(scaled: Scaled, wanted: number): Promise<void> {
  const deadline = Date.now() + SCALE_LIMIT_MS;
  for (;;) {
    const pods = await wantedPods(scaled.kubectl, scaled.deployment);
    if (pods === wanted) {
      return;
    }
    if (Date.now() > deadline) {
      const lag = (await lagSeen(scaled)).join();
      throw new ExplainedError(
        `${pods} Pods and not ${wanted} after ${SCALE_LIMIT_MS / 1_000} s; KEDA sees a lag of ${lag}`,
      );
    }
    await delay(POLL_MS);
  }
}

/**
 * Waits for one Pod while records are produced at a steady rate, and watches that no other is added. Kubernetes looks
 * at fixed intervals, and may each time see the lag of the same moment after a commit: the lag in between is looked at,
 * too.
 */
export async function steadyPods(scaled: Scaled): Promise<string> {
  await untilPods(scaled, 1);
  const deadline = Date.now() + STEADY_MS;
  const lags: number[] = [];
  while (Date.now() < deadline) {
    await delay(POLL_MS);
    lags.push(...(await lagSeen(scaled)));
    const pods = await wantedPods(scaled.kubectl, scaled.deployment);
    if (pods !== 1) {
      throw new ExplainedError(`${pods} Pods, though one keeps up with the rate; KEDA saw a lag of ${lags.join(', ')}`);
    }
  }
  return `1 Pod for ${STEADY_MS / 1_000} s, KEDA saw a lag of ${keptUpLag(lags)} in the middle`;
}

/** @returns the median @throws ExplainedError when that is more than the records of a second, or there is none */
export function keptUpLag(lags: readonly number[]): number {
  const median = lags.toSorted((a, b) => a - b)[Math.floor(lags.length / 2)];
  if (median === undefined || median > RECORDS_PER_SECOND) {
    throw new ExplainedError(
      `one Pod keeps up with ${RECORDS_PER_SECOND} records a second, and KEDA saw a lag of ${lags.join(', ') || 'nothing'}`,
    );
  }
  return median;
}

/** Locks the table, so that records pile up whatever Pods there are, until KEDA wants all that there may be. */
export async function scaledUp(scaled: Scaled, databaseUrl: string): Promise<string> {
  const database = new pg.Client({ connectionString: databaseUrl });
  // The end of the run may end the server before this connection: the query that needs it reports that.
  database.on('error', () => undefined);
  await database.connect();
  try {
    await database.query(`${BEGIN}; LOCK TABLE ${WRITTEN.schema}.records IN SHARE MODE`);
    await untilPods(scaled, MOST_PODS);
  } finally {
    await database.end();
  }
  return `1 to ${MOST_PODS} Pods while a lock kept all records unwritten`;
}

/** Waits until KEDA has taken away all Pods but one, the lag being written. */
export async function scaledDown(scaled: Scaled): Promise<string> {
  await untilPods(scaled, 1);
  return `${MOST_PODS} to 1 Pod`;
}
