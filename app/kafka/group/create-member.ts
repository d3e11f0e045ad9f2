import type { Kafka } from 'kafkajs';
import { milliseconds } from '../../../settings/duration.ts';
import type { Settings } from '../../../settings/settings.ts';
import type { Clock } from '../../stream/clock.ts';
import type { ClientListener } from '../client-listener.ts';
import { BrokerConnections, clusterApart } from '../fetch/broker-connections.ts';
import { ClassicMember } from './classic-member.ts';
import { GroupCoordinator } from './coordinator.ts';
import type { GroupMember } from './group-member.ts';
import { topicsOf } from './subscribed-metadata.ts';

/** What a member is made of. */
interface MemberParts {
  readonly watcher: Pick<ClientListener, 'onAnswer'>;
  readonly clock: Clock;
}

/** The process as a member of its group; it connects to nothing yet. */
export function createMember(settings: Settings['kafka'], kafka: Kafka, { watcher, clock }: MemberParts): GroupMember {
  const { groupId, topics, groupInstanceId: instanceId = null } = settings;
  const sessionTimeoutMs = milliseconds(settings.sessionTimeout);
  const connections = new BrokerConnections(clusterApart(kafka, watcher), clock);
  const coordinator = new GroupCoordinator(connections, { groupId, sessionTimeoutMs });
  const options = { groupId, topics, sessionTimeoutMs, instanceId };
  return new ClassicMember(options, { coordinator, topics: topicsOf(connections), clock });
}
