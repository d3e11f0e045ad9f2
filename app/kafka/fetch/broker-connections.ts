import type { Clock } from '../../stream/ports/clock.ts';
import { isOutage } from '../client/kafka-errors.ts';
import type { Broker, BrokerAddress, Cluster } from '../kafkajs/classes.ts';
import { askCluster, askCoordinator, askMetadata, type ClusterMetadata } from '../kafkajs/cluster-requests.ts';
import { internals } from '../kafkajs/internals.ts';

/** A broker that has not answered for this time is asked along with the next one. */
const SLOW_BROKER_MS = 1_000;

/** So many bootstrap brokers are connected to, one after the other, before there is none. */
const BOOTSTRAP_TRIES = 3;

interface KnownBroker {
  readonly address: BrokerAddress;
  connection: Promise<Broker> | null;
}

/**
 * Connections to the brokers of a cluster, over which records are fetched. kafkajs makes them, with the client's TLS
 * and login; which broker is asked, and for how long, is decided here.
 */
export class BrokerConnections {
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #brokers = new Map<number, KnownBroker>();
  /** Bootstrap brokers that are asked, each by one asker. */
  readonly #seeds = new Set<Broker>();
  /** Brokers that are being connected to. */
  readonly #attempts = new WeakMap<Broker, Promise<void>>();
  #isClosed = false;

  constructor(cluster: Cluster, clock: Clock) {
    this.#cluster = cluster;
    this.#clock = clock;
  }

  /** A broker with a connection to it, which is opened where there is none. @throws Error when none comes about */
  async to(nodeId: number): Promise<Broker> {
    const known = this.#brokers.get(nodeId);
    if (known === undefined || this.#isClosed) {
      throw connectionError(`broker ${nodeId} is none of the cluster's`, `${nodeId}`);
    }
    known.connection ??= this.#open(nodeId, known.address);
    const { connection } = known;
    const broker = await connection
      .then((opened) => this.#connected(opened))
      .catch((error: unknown) => {
        if (this.#brokers.get(nodeId)?.connection === connection) {
          this.drop(nodeId);
        }
        throw error;
      });
    if (this.#isClosed || this.#brokers.get(nodeId)?.connection !== connection) {
      // It was dropped while it connected.
      closeBroker(broker);
      throw connectionError(`the connection to broker ${nodeId} was closed`, `${nodeId}`);
    }
    return broker;
  }

  /**
   * The broker, with a connection to it and a login that is not over. kafkajs calls a broker connected before it has
   * answered which versions of requests it offers, so all who ask meanwhile wait for the first one's attempt.
   */
  async #connected(broker: Broker): Promise<Broker> {
    const attempt = this.#attempts.get(broker);
    if (attempt !== undefined) {
      await attempt;
    } else if (!broker.isConnected()) {
      const connecting = this.#cluster.brokerPool.connectBroker(broker);
      this.#attempts.set(broker, connecting);
      await connecting.finally(() => this.#attempts.delete(broker));
    }
    if (broker.versions === null) {
      throw connectionError('the broker did not answer which versions of requests it offers', 'the broker');
    }
    return broker;
  }

  /**
   * Closes the connections to a broker at once; requests under way fail. The next ones go over new connections, and by
   * the versions that the broker offers then: it may have been another version that was started.
   */
  drop(nodeId: number): void {
    const known = this.#brokers.get(nodeId);
    if (known !== undefined) {
      void known.connection?.then(closeBroker, () => undefined);
      known.connection = null;
    }
  }

  /**
   * The metadata of topics, by the first broker that answers. Where one does not, the next is asked as well: those
   * with a connection first, the bootstrap brokers last.
   *
   * @param slow brokers that are asked behind the others
   * @throws Error when none answers
   */
  async metadata(topics: readonly string[], slow: ReadonlySet<number>): Promise<ClusterMetadata> {
    const metadata = await this.#askAny((broker) => askMetadata(broker, topics), slow);
    this.#follow(metadata.brokers);
    return metadata;
  }

  /**
   * The cluster without its topics, by the first of its advertised brokers that answers. A bootstrap broker is asked
   * who they are, and no more: no record is read there. Those asked before the one that answers are dropped, as they
   * failed or were silent: it is asked first the next time. So nothing else may be asked over these connections.
   *
   * @throws Error when none answers
   */
  async describe(): Promise<Omit<ClusterMetadata, 'topicMetadata'>> {
    if (this.#brokers.size === 0) {
      this.#follow((await this.#askBootstrap(askCluster)).brokers);
    }
    this.#requireBrokers();
    const nodeIds = this.#ranked(new Set());
    const ask = async (nodeId: number) => ({ nodeId, cluster: await askCluster(await this.to(nodeId)) });
    const { nodeId: answering, cluster } = await this.#first(nodeIds.map((nodeId) => () => ask(nodeId)));
    for (const nodeId of nodeIds.slice(0, nodeIds.indexOf(answering))) {
      this.drop(nodeId);
    }
    this.#follow(cluster.brokers);
    this.#requireBrokers();
    return cluster;
  }

  /** A broker that has just started may list none. */
  #requireBrokers(): void {
    if (this.#brokers.size === 0) {
      throw connectionError('the cluster lists no brokers', 'the cluster');
    }
  }

  /**
   * The broker that coordinates a group, by the first one that answers.
   *
   * @throws Error `GROUP_AUTHORIZATION_FAILED` when an ACL forbids the group; another one when no broker knows it
   */
  async coordinator(groupId: string): Promise<BrokerAddress & { readonly nodeId: number }> {
    const answer = await this.#askAny((broker) => askCoordinator(broker, groupId), new Set());
    if (answer instanceof Error) {
      throw answer;
    }
    return answer.coordinator;
  }

  /** A broker beside the one of {@link to}, which the caller connects to and closes. */
  apart({ nodeId, ...address }: BrokerAddress & { readonly nodeId: number }): Promise<Broker> {
    return this.#open(nodeId, address);
  }

  #askAny<T>(ask: (broker: Broker) => Promise<T>, slow: ReadonlySet<number>): Promise<T> {
    return this.#first([...this.#asks(ask, slow), () => this.#askBootstrap(ask)]);
  }

  /** Asks each of the advertised brokers, in the order in which they are best asked. */
  #asks<T>(ask: (broker: Broker) => Promise<T>, slow: ReadonlySet<number>): readonly (() => Promise<T>)[] {
    return this.#ranked(slow).map((nodeId) => async () => ask(await this.to(nodeId)));
  }

  /** The advertised brokers: those with a connection first, the slow ones last. */
  #ranked(slow: ReadonlySet<number>): readonly number[] {
    const rank = (id: number): number => (slow.has(id) ? 2 : 0) + (this.#brokers.get(id)?.connection === null ? 1 : 0);
    return internals.shuffle([...this.#brokers.keys()]).toSorted((one, other) => rank(one) - rank(other));
  }

  /** Closes all connections at once; requests under way fail. */
  close(): void {
    this.#isClosed = true;
    for (const nodeId of this.#brokers.keys()) {
      this.drop(nodeId);
    }
    for (const seed of this.#seeds) {
      closeBroker(seed);
    }
  }

  async #open(nodeId: number, address: BrokerAddress): Promise<Broker> {
    const { rootLogger: logger, brokerPool, connectionPoolBuilder } = this.#cluster;
    const connectionPool = await connectionPoolBuilder.build(address);
    return brokerPool.createBroker({ logger, connectionPool, nodeId });
  }

  /** Each asker has a separate connection, which nobody else closes. The next one takes the next address. */
  async #askBootstrap<T>(ask: (broker: Broker) => Promise<T>): Promise<T> {
    const seed = await this.#seed();
    try {
      return await ask(seed);
    } finally {
      this.#closeSeed(seed);
    }
  }

  /** Where one cannot be connected to, the next one is. @throws Error when none of them can be */
  async #seed(triesLeft: number = BOOTSTRAP_TRIES): Promise<Broker> {
    const { rootLogger: logger, brokerPool, connectionPoolBuilder } = this.#cluster;
    const seed = brokerPool.createBroker({ logger, connectionPool: await connectionPoolBuilder.build() });
    this.#seeds.add(seed);
    try {
      this.#requireOpen();
      await this.#connected(seed);
      this.#requireOpen();
      return seed;
    } catch (error) {
      this.#closeSeed(seed);
      if (triesLeft > 1 && !this.#isClosed && isOutage(error)) {
        return this.#seed(triesLeft - 1);
      }
      throw error;
    }
  }

  #closeSeed(seed: Broker): void {
    this.#seeds.delete(seed);
    closeBroker(seed);
  }

  #requireOpen(): void {
    if (this.#isClosed) {
      throw connectionError('the connections to the brokers were closed', 'a bootstrap broker');
    }
  }

  /** The first answer; each is asked when the one before has failed, or was silent for some time. */
  async #first<T>(asks: readonly (() => Promise<T>)[]): Promise<T> {
    const asked: Promise<T>[] = [];
    for (const each of asks) {
      asked.push(each());
      const answer = Promise.any(asked).catch(() => undefined);
      const ending = new AbortController();
      const found = await Promise.race([answer, this.#clock.wait(SLOW_BROKER_MS, ending.signal).then(() => undefined)]);
      ending.abort();
      if (found !== undefined) {
        return found;
      }
    }
    return Promise.any(asked).catch((error: unknown) => {
      throw error instanceof AggregateError ? error.errors.at(-1) : error;
    });
  }

  /** Takes the addresses of the brokers as they are now. */
  #follow(brokers: ClusterMetadata['brokers']): void {
    const gone = new Set(this.#brokers.keys());
    for (const { nodeId, host, port, rack = null } of brokers) {
      gone.delete(nodeId);
      const known = this.#brokers.get(nodeId)?.address;
      if (known?.host !== host || known.port !== port) {
        this.drop(nodeId);
        this.#brokers.set(nodeId, { address: { host, port, rack }, connection: null });
      }
    }
    for (const nodeId of gone) {
      this.drop(nodeId);
      this.#brokers.delete(nodeId);
    }
  }
}

/** An outage, which is tried again, as those of kafkajs are. */
const connectionError = (message: string, broker: string): Error =>
  new internals.errors.KafkaJSConnectionError(message, { broker });

/** Closes a broker's connections, where kafkajs waits for the answers that are under way. */
export function closeBroker(broker: Broker): void {
  for (const connection of broker.connectionPool.pool) {
    connection.rejectRequests(connectionError('the connection was closed', 'the broker'));
    if (connection.isConnected()) {
      connection.socket.destroy();
    }
  }
  void broker.disconnect().catch(() => undefined);
}
