import type { Kafka } from 'kafkajs';
import { milliseconds } from '../../../settings/schema/duration.ts';
import type { Settings } from '../../../settings/settings.ts';
import { errorTypeOf, messageOf, refusal } from '../../kafka/client/kafka-errors.ts';
import { BrokerConnections } from '../../kafka/fetch/broker-connections.ts';
import { clusterApart } from '../../kafka/fetch/cluster-apart.ts';
import { type DescribedGroup, GroupCoordinator } from '../../kafka/group/coordinator.ts';
import { NO_GENERATION, ROUND_ROBIN, STICKY } from '../../kafka/group/member-metadata.ts';
import { GroupClaim } from '../../kafka/group-claim.ts';
import type { KafkaAdmin } from '../../kafka/kafka-admin.ts';
import { SILENT } from '../../kafka/topic-reader.ts';
import { Retries } from '../../stream/partition/retries.ts';
import { systemClock } from '../../stream/ports/clock.ts';
import type { WritePlace } from '../../stream/ports/record-sink.ts';
import { OutageError } from '../../stream/ports/stream-errors.ts';
import { aclCommand } from './check-topics.ts';
import { away, type Finding, findingOf, LIMIT_MS, ok, type Subject, wrong } from './finding.ts';

/** A member that no group has: a heartbeat of it takes the right that a join takes, and does nothing. */
const NOBODY = 'stream-consumer-doctor';

/** Answers by which the coordinator lets the user in, and does not know the member. */
const ADMITTED: ReadonlySet<string | undefined> = new Set([
  'UNKNOWN_MEMBER_ID',
  'ILLEGAL_GENERATION',
  'REBALANCE_IN_PROGRESS',
]);

/** @throws FatalError `GROUP_FORBIDDEN`, OutageError */
async function describeGroup(coordinator: GroupCoordinator, groupId: string): Promise<DescribedGroup> {
  try {
    await coordinator.beat({ memberId: NOBODY, generationId: NO_GENERATION }).catch((error: unknown) => {
      if (!ADMITTED.has(errorTypeOf(error))) {
        throw error;
      }
    });
    return await coordinator.describe();
  } catch (error) {
    const message = `no coordinator of the group answers: ${messageOf(error)}`;
    throw refusal(error, { groupId }) ?? new OutageError(message, { cause: error, reason: 'kafka_away' });
  }
}

const groupSubject = (groupId: string): Subject => ({ area: 'Kafka', check: 'group', name: groupId });

/** Whether the consumer may join its group, by a heartbeat that changes nothing, and who else is in it. */
export async function checkGroup(settings: Settings, kafka: Kafka): Promise<Finding> {
  const { groupId, sessionTimeout } = settings.kafka;
  const subject = groupSubject(groupId);
  const connections = new BrokerConnections(clusterApart(kafka), systemClock);
  const coordinator = new GroupCoordinator(connections, { groupId, sessionTimeoutMs: milliseconds(sessionTimeout) });
  let outage = '';
  try {
    // The first group of a cluster has no coordinator for a moment.
    const group = await new Retries(systemClock).until(
      () => describeGroup(coordinator, groupId),
      AbortSignal.timeout(LIMIT_MS / 2),
      {
        onOutage: ({ message }) => {
          outage = message;
        },
      },
    );
    return group === undefined ? away(subject, outage) : groupFinding(settings, group);
  } catch (error) {
    const finding = findingOf(subject, error);
    return finding.code === 'GROUP_FORBIDDEN'
      ? wrong(subject, {
          message: 'Kafka does not let the consumer join it',
          code: finding.code,
          mend: aclCommand(settings, 'Read', `--group ${groupId}`),
        })
      : finding;
  } finally {
    coordinator.close();
  }
}

function groupFinding({ kafka: { groupId, groupProtocol } }: Settings, group: DescribedGroup): Finding {
  const subject = groupSubject(groupId);
  const { protocolType, protocol, members } = group;
  const isForeignType = protocolType !== '' && protocolType !== 'consumer';
  const isForeign = members.length > 0 && protocol !== '' && protocol !== STICKY && protocol !== ROUND_ROBIN;
  if (groupProtocol === 'classic' && (isForeignType || isForeign)) {
    const how = isForeignType ? `is of the type ${protocolType}` : `assigns partitions by ${protocol}`;
    return wrong(subject, {
      message: `another program is in it: the group ${how}, and would refuse the consumer`,
      code: 'KAFKA_CLIENT_STOPPED',
      mend: 'set kafka.groupId to a name that no other program uses, or stop that program',
    });
  }
  const count = members.length === 1 ? '1 member is' : `${members.length} members are`;
  return ok(subject, `may be joined${members.length === 0 ? '' : `; ${count} in it now`}`);
}

/** Whether the group writes where this consumer does. */
export async function checkClaim(settings: Settings, admin: KafkaAdmin, place: WritePlace): Promise<Finding> {
  const { groupId, sessionTimeout } = settings.kafka;
  const subject = { area: 'Kafka', check: 'place of group', name: groupId } as const;
  const claim = new GroupClaim({
    ...{ groupId, sessionTimeoutMs: milliseconds(sessionTimeout), admin, clock: systemClock, logger: SILENT },
    place: () => Promise.resolve(place),
  });
  try {
    await claim.check();
    return ok(subject, `schema "${place.schema}" of database "${place.database}", and nowhere else`);
  } catch (error) {
    return findingOf(subject, error);
  }
}
