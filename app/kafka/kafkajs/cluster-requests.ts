import { errorTypeOf } from '../client/kafka-errors.ts';
import { METADATA_KEY } from './admin-requests.ts';
import type { Broker, BrokerAddress, ProtocolRequest } from './classes.ts';
import { KafkajsEncoder } from './flexible-versions.ts';
import { internals } from './internals.ts';

const FIND_COORDINATOR_KEY = 10;

/** The kind of coordinator that groups have. */
const OF_GROUP = 0;

/** What a broker answers about topics, as kafkajs reads it, whatever errors are in it. */
export interface ClusterMetadata {
  readonly clusterId: string;
  readonly brokers: readonly (BrokerAddress & { readonly nodeId: number })[];
  readonly topicMetadata: readonly {
    readonly topic: string;
    readonly topicErrorCode?: number;
    readonly partitionMetadata: readonly { readonly partitionId: number; readonly leader: number }[];
  }[];
}

/** Asks a broker about topics, where none is named about all. Errors in the answer stay in it, unlike in kafkajs. */
export const askMetadata = (broker: Broker, topics: readonly string[]): Promise<ClusterMetadata> =>
  broker.connectionPool.send(metadataRequest(broker, topics));

/** kafkajs writes a list without topics as all of them: megabytes, where a cluster has many. */
const withoutTopics = async () => new KafkajsEncoder().writeInt32(0).writeBoolean(false);

/** Asks a broker for the cluster, without its topics. */
export function askCluster(broker: Broker): Promise<ClusterMetadata> {
  const { request, response } = metadataRequest(broker, []);
  return broker.connectionPool.send({ request: { ...request, encode: withoutTopics }, response });
}

function metadataRequest(broker: Broker, topics: readonly string[]): ProtocolRequest<ClusterMetadata> {
  const lookup = broker.lookupRequest(METADATA_KEY, internals.requests.Metadata);
  const asked = { topics, allowAutoTopicCreation: false };
  const { request, response } = lookup(asked) as ProtocolRequest<ClusterMetadata>;
  const parse = async (metadata: ClusterMetadata) => metadata;
  return { request, response: { decode: response.decode, parse } };
}

/** What an ACL forbids is an answer: no other broker has to be asked. */
export async function askCoordinator(
  { lookupRequest, connectionPool }: Broker,
  groupId: string,
): Promise<Error | { readonly coordinator: BrokerAddress & { readonly nodeId: number } }> {
  const lookup = lookupRequest(FIND_COORDINATOR_KEY, internals.requests.GroupCoordinator);
  const asked = lookup({ groupId, coordinatorType: OF_GROUP });
  return connectionPool
    .send(asked as ProtocolRequest<Awaited<ReturnType<typeof askCoordinator>>>)
    .catch((error: unknown) => {
      if (error instanceof Error && errorTypeOf(error) === 'GROUP_AUTHORIZATION_FAILED') {
        return error;
      }
      throw error;
    });
}
