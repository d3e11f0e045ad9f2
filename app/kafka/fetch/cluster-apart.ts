import type { Kafka } from 'kafkajs';
import type { ClientListener } from '../client/client-listener.ts';
import type { Cluster } from '../kafkajs/classes.ts';
import { createCluster } from '../kafkajs/internals.ts';

/** Requests are reported by kafkajs under this name. */
const REQUEST = 'network.request';

/** A request that was answered. */
interface AnsweredRequest {
  readonly apiName: string;
  /** In milliseconds. */
  readonly duration: number;
  /** Of the answer, in bytes. */
  readonly size: number;
}

/** Metadata are kept by `BrokerConnections`, not by the cluster. */
const NO_METADATA_MS = 0;

/**
 * A cluster of the client's for one purpose, such as fetches: no other request waits for a long poll, and no long poll
 * for them.
 *
 * @param watcher hears of each answer. @default nothing does
 */
export function clusterApart(kafka: Kafka, watcher?: Pick<ClientListener, 'onAnswer'>): Cluster {
  const emit = (event: string, payload: object): void => {
    if (event === REQUEST) {
      const { apiName: kind, duration: milliseconds, size: bytes } = payload as AnsweredRequest;
      watcher?.onAnswer({ kind, milliseconds, bytes });
    }
  };
  const instrumentationEmitter = { emit };
  return createCluster(kafka, {
    metadataMaxAge: NO_METADATA_MS,
    allowAutoTopicCreation: false,
    instrumentationEmitter,
  });
}
