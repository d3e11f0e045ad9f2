import { setImmediate as turn } from 'node:timers/promises';
import type { Broker, Cluster, ProtocolRequest } from '../../../../app/kafka/kafkajs/classes.ts';
import type { ClusterMetadata } from '../../../../app/kafka/kafkajs/cluster-requests.ts';
import { internals } from '../../../../app/kafka/kafkajs/internals.ts';
import type { Clock } from '../../../../app/stream/ports/clock.ts';

const METADATA_KEY = 3;

/** A request that a stub was sent, until it is answered. */
interface StubRequest {
  readonly to: string;
  readonly apiKey: number;
  readonly encode: ProtocolRequest<unknown>['request']['encode'];
  resolve(answer: unknown): void;
}

/** Resolves when all that is due has run. */
export const settle = async (): Promise<void> => {
  for (let nth = 0; nth < 10; nth += 1) await turn();
};

/** The cluster of a client, of which each broker and each request is noted; nothing is answered but by the test. */
export class StubCluster {
  readonly events: string[] = [];
  readonly requests: StubRequest[] = [];
  /** Addresses to which no connection comes about. */
  readonly unreachable = new Set<string>();
  /** Addresses that take a connection; the test answers what versions they offer. */
  readonly greets = new Map<string, (versions: Broker['versions']) => void>();
  readonly cluster: Cluster;
  /** Its waits end by {@link losePatience}. */
  readonly clock: Clock;
  readonly #waits: (() => void)[] = [];
  #seeds = 0;

  constructor() {
    const { events } = this;
    const wait: Clock['wait'] = (_, signal) =>
      new Promise((resolve) => {
        this.#waits.push(resolve);
        signal?.addEventListener('abort', () => resolve());
      });
    this.clock = { now: () => new Date(0), steady: () => new Date(0), wait };
    this.cluster = {
      rootLogger: {},
      connectionPoolBuilder: {
        build: async (address?: { host: string; port: number }) =>
          address === undefined ? `seed-${this.#seeds++}` : `${address.host}:${address.port}`,
      },
      brokerPool: {
        createBroker: ({ connectionPool }: { connectionPool: string }) => this.broker(connectionPool),
        connectBroker: async (broker: ReturnType<StubCluster['broker']>) => {
          events.push(`connect ${broker.address}`);
          if (this.unreachable.has(broker.address)) {
            throw new internals.errors.KafkaJSConnectionError(`${broker.address} is away`, { broker: broker.address });
          }
          broker.open();
          if (this.greets.has(broker.address)) {
            broker.versions = null;
            broker.versions = await new Promise((resolve) => this.greets.set(broker.address, resolve));
          }
        },
      },
      disconnect: async () => undefined,
    } as unknown as Cluster;
  }

  /** Ends the wait for the brokers that were asked so far. */
  async losePatience(): Promise<void> {
    for (const end of this.#waits.splice(0)) end();
    await settle();
  }

  /** Answers the oldest request for metadata. */
  metadata(brokers: Readonly<Record<number, string>>, leaders: Readonly<Record<string, readonly number[]>> = {}): void {
    const answer: ClusterMetadata = {
      clusterId: 'stub',
      brokers: Object.entries(brokers).map(([nodeId, host]) => ({ nodeId: Number(nodeId), host, port: 9092 })),
      topicMetadata: Object.entries(leaders).map(([topic, of]) => ({
        topic,
        partitionMetadata: of.map((leader, partitionId) => ({ partitionId, leader })),
      })),
    };
    this.take(METADATA_KEY).resolve(answer);
  }

  /** The oldest request of a kind. */
  take(apiKey: number): StubRequest {
    const place = this.requests.findIndex((request) => request.apiKey === apiKey);
    const [request] = place < 0 ? [] : this.requests.splice(place, 1);
    if (request === undefined) {
      throw new Error(`there is no request ${apiKey}: ${this.events.join(', ')}`);
    }
    return request;
  }

  broker(address: string) {
    const { events, requests } = this;
    let isOpen = false;
    const rejects = new Set<(error: Error) => void>();
    const connection = {
      isConnected: () => true,
      socket: { destroy: () => void events.push(`destroy ${address}`) },
      rejectRequests: (error: Error) => {
        for (const reject of rejects) reject(error);
      },
    };
    const send = ({ request }: ProtocolRequest<unknown>) =>
      new Promise<unknown>((resolve, reject) => {
        rejects.add(reject);
        requests.push({ to: address, apiKey: request.apiKey, encode: request.encode, resolve });
      });
    const asked = { request: { apiKey: METADATA_KEY }, response: { decode: async () => undefined } };
    return {
      address,
      versions: { 1: { maxVersion: 13 } } as Broker['versions'],
      connectionPool: { pool: [connection], send },
      lookupRequest: () => () => asked,
      open: () => {
        isOpen = true;
      },
      isConnected: () => isOpen,
      disconnect: async () => {
        isOpen = false;
      },
    };
  }
}
