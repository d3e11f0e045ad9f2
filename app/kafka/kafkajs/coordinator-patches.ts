import { errorTypeOf } from '../authorization.ts';
import type { Broker, ClientOptions, Cluster } from './classes.ts';
import { internals } from './internals.ts';

/** A coordinator's node id is told apart from the broker's by counting down from here, as Kafka's own client does. */
const MAX_NODE_ID = 0x7fff_ffff;

/** A connection to a group's coordinator, for requests about the membership and about offsets alone. */
class CoordinatorConnection {
  readonly #cluster: Cluster;
  #broker: Broker | null = null;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** The coordinator, where the id is that of this connection. */
  at(nodeId: number | string): Broker | null {
    return this.#broker?.nodeId === nodeId ? this.#broker : null;
  }

  /** Leads to this broker from now on, and stays as it is where it does already. */
  async leadTo({ nodeId: node, versions, connectionPool: { host, port, rack = null } }: Broker): Promise<Broker> {
    const nodeId = MAX_NODE_ID - node;
    const known = this.at(nodeId);
    if (known?.connectionPool.host === host && known.connectionPool.port === port) {
      return known;
    }
    void this.close();
    const { rootLogger: logger, brokerPool, connectionPoolBuilder } = this.#cluster;
    const connectionPool = await connectionPoolBuilder.build({ host, port, rack });
    const broker = brokerPool.createBroker({ logger, versions, connectionPool, nodeId });
    this.#broker = broker;
    return broker;
  }

  /** Never rejects. */
  async close(): Promise<void> {
    const broker = this.#broker;
    this.#broker = null;
    await broker?.disconnect().catch(() => undefined);
  }
}

/**
 * Gives a consumer a connection of its own to the group's coordinator, as Kafka's own client has one. As shipped the
 * requests of the group share one with those for metadata and log ends, and a broker answers those of a connection one
 * after the other.
 */
export function connectCoordinatorApart({ cluster }: Pick<ClientOptions, 'cluster'>): void {
  const apart = new CoordinatorConnection(cluster);
  const find = cluster.findGroupCoordinator.bind(cluster);
  const findBroker = cluster.findBroker.bind(cluster);
  const disconnect = cluster.disconnect.bind(cluster);
  const connected = async (broker: Broker): Promise<Broker> => {
    await cluster.brokerPool.connectBroker(broker);
    return broker;
  };
  cluster.findGroupCoordinator = async (group) => connected(await apart.leadTo(await find(group)));
  cluster.findBroker = async (wanted) => {
    const coordinator = apart.at(wanted.nodeId);
    return coordinator === null ? findBroker(wanted) : connected(coordinator);
  };
  cluster.disconnect = async () => {
    await Promise.all([disconnect(), apart.close()]);
  };
}

/**
 * Makes the error that no broker knows the group's coordinator a retriable one. As shipped it is not, although it says
 * only that the brokers are starting, or that the connection broke before the answer. It is also what is left of an ACL
 * that forbids the group, so one broker is asked again, for its own answer.
 */
export function retryCoordinatorLookup(prototype: Cluster): void {
  const { KafkaJSError, KafkaJSGroupCoordinatorNotFound } = internals.errors;
  const find = prototype.findGroupCoordinatorMetadata;
  prototype.findGroupCoordinatorMetadata = async function findOrTryAgain(this: Cluster, options) {
    try {
      return await find.call(this, options);
    } catch (error) {
      if (!(error instanceof KafkaJSGroupCoordinatorNotFound)) {
        throw error;
      }
      const ask = async () => (await this.brokerPool.findConnectedBroker()).findGroupCoordinator(options);
      return ask().catch((answer: unknown) => {
        throw errorTypeOf(answer) === 'GROUP_AUTHORIZATION_FAILED' ? answer : new KafkaJSError(error.message);
      });
    }
  };
}
