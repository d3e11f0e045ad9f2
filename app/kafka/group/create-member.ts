import type { Kafka } from 'kafkajs';
import { milliseconds } from '../../../settings/schema/duration.ts';
import type { Settings } from '../../../settings/settings.ts';
import type { Logger } from '../../logging/logger.ts';
import type { Clock } from '../../stream/ports/clock.ts';
import type { ClientListener } from '../client-listener.ts';
import { ConsumerMember } from '../consumer-protocol/consumer-member.ts';
import { BrokerConnections, clusterApart } from '../fetch/broker-connections.ts';
import type { KafkaAdmin } from '../kafka-admin.ts';
import { ClassicMember } from './classic-member.ts';
import { GroupCoordinator } from './coordinator.ts';
import type { GroupMember } from './group-member.ts';
import { NegotiatedMember } from './negotiated-member.ts';
import { topicsOf } from './subscribed-metadata.ts';

/** What a member is made of. */
interface MemberParts {
  readonly watcher: Pick<ClientListener, 'onAnswer'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly admin: Pick<KafkaAdmin, 'topicIds'>;
}

/** The process as a member of its group; it connects to nothing yet. */
export function createMember(
  settings: Settings['kafka'],
  kafka: Kafka,
  { watcher, clock, logger, admin }: MemberParts,
): GroupMember {
  const { groupId, topics, groupProtocol, groupInstanceId: instanceId = null } = settings;
  const sessionTimeoutMs = milliseconds(settings.sessionTimeout);
  const connections = new BrokerConnections(clusterApart(kafka, watcher), clock);
  const coordinator = new GroupCoordinator(connections, { groupId, sessionTimeoutMs });
  const ports = { coordinator, topics: topicsOf(connections), clock, logger };
  const createClassic = () => new ClassicMember({ groupId, topics, sessionTimeoutMs, instanceId }, ports);
  if (groupProtocol === 'classic') {
    return createClassic();
  }
  const topicIds = (asked: readonly string[]) => admin.topicIds(asked);
  return new NegotiatedMember(
    (onNotOffered) => new ConsumerMember({ groupId, topics, instanceId }, { ...ports, topicIds, onNotOffered }),
    createClassic,
    ({ message: reason }) =>
      logger.warn({ reason }, 'the group is joined by the protocol classic until the process ends'),
  );
}
