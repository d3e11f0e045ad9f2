import type { Logger } from '../logging/logger.ts';
import { partitionKey, type TopicPartition } from '../records/record.ts';
import type { Clock } from '../stream/ports/clock.ts';
import type { WritePlace } from '../stream/ports/record-sink.ts';
import type { Position } from '../stream/ports/record-source.ts';
import { FatalError, OutageError } from '../stream/ports/stream-errors.ts';
import { messageOf, refusal } from './client/kafka-errors.ts';
import type { GroupOffset, KafkaAdmin } from './kafka-admin.ts';

/** The key of a claim in the metadata of a committed offset, which other tools fill with their texts. */
const CLAIM_KEY = 'stream-consumer';

const CLAIM_POLL_MS = 50;

/** Longer than the session time-out by this much, a member that was frozen has left its generation for sure. */
const MARGIN_MS = 2_000;

/** Where a group writes, as far as the metadata of a committed offset says it. */
interface Claim extends WritePlace {
  /** Not looked over yet: nothing is written on its strength. */
  readonly isTentative: boolean;
}

/** The metadata of an offset that is committed by a consumer that writes into this place. */
const claimText = ({ schema, database, systemIdentifier }: WritePlace, isTentative = false): string =>
  JSON.stringify({ [CLAIM_KEY]: { schema, database, systemIdentifier, ...(isTentative ? { isTentative } : {}) } });

/** The claim in an offset's metadata; `null` where there is none, or only what another program wrote. */
function claimOf(metadata: string | null): Claim | null {
  try {
    const { schema, database, systemIdentifier, isTentative } = JSON.parse(metadata ?? '')[CLAIM_KEY];
    const isClaim = typeof schema === 'string' && typeof database === 'string';
    const identifier = typeof systemIdentifier === 'string' ? systemIdentifier : null;
    return isClaim ? { schema, database, systemIdentifier: identifier, isTentative: isTentative === true } : null;
  } catch {
    return null;
  }
}

/** A server whose identifier is not known may be any: the names alone are compared. */
function isSamePlace(one: WritePlace, other: WritePlace): boolean {
  const isSameServer =
    one.systemIdentifier === null || other.systemIdentifier === null || one.systemIdentifier === other.systemIdentifier;
  return isSameServer && one.schema === other.schema && one.database === other.database;
}

const shownPlace = ({ schema, database, systemIdentifier }: WritePlace): string =>
  `schema "${schema}" of database "${database}" (system_identifier ${systemIdentifier ?? 'unknown'})`;

/** Why Kafka did not take the commit of a claim. */
export function claimError(error: unknown, asked: Parameters<typeof refusal>[1]): FatalError | OutageError {
  const message = `Kafka did not take the claim of the group: ${messageOf(error)}`;
  return refusal(error, asked) ?? new OutageError(message, { reason: 'kafka_away', cause: error });
}

/** The brokers refuse a commit until the join is through, and from the moment on in which another one begins. */
const unjoined = (): void => undefined;

const rethrow = (error: unknown): never => {
  throw error;
};

/** Returns the error of a topic that Kafka forbids as a value; everything else stays an error. */
function forbiddenOnly(error: unknown): FatalError {
  if (error instanceof FatalError && error.code === 'TOPIC_FORBIDDEN') {
    return error;
  }
  throw error;
}

/** The part of a consumer that commits offsets in its generation, and its role there. */
export interface ClaimingMember {
  /** Of all members of a generation one; null: the brokers assign the partitions, and no member leads (KIP-848). */
  readonly isLeader: boolean | null;
  /** Rejects when the generation is over. */
  commit(position: Position, metadata: string): Promise<void>;
  /** Partitions whose committed offset can hold the claim. */
  readonly assigned: readonly TopicPartition[];
  /** Topics that are looked at; where Kafka forbids all of them, those of {@link assigned} are. */
  readonly topics: readonly string[];
}

const whyWithoutLeader = ({ isLeader }: ClaimingMember): string =>
  isLeader === null
    ? 'no member leads it. Reading begins when none of the others turns out to write elsewhere'
    : 'its leader has not claimed it';

/** The parts and settings that a claim works with. */
interface GroupClaimPorts {
  readonly groupId: string;
  readonly sessionTimeoutMs: number;
  readonly admin: Pick<KafkaAdmin, 'groupOffsets' | 'logRanges'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where this process writes; asked each time, as it may be another server each time. */
  readonly place: () => Promise<WritePlace>;
}

/**
 * Keeps a group in one schema: two would split the partitions, and each table would lack what the other has. The schema
 * is in the metadata of the offsets that the group commits to Kafka, and nothing is read before it does.
 *
 * Where no offset has it yet, the leader of the generation puts it there; the brokers take it in that generation only,
 * so of many members that start at once one decides for all. A leader that cannot, such as one of an older version, is
 * waited for until each member that found nothing has either committed or lost its generation. Then another member
 * decides, and looks again after as long, before it counts.
 *
 * Where nobody leads, each member decides as that one does, at once: Kafka takes the commits of all of them. Two that
 * write into different places find each other's when they look again.
 */
export class GroupClaim {
  readonly #ports: GroupClaimPorts;
  #place: WritePlace | null = null;
  /**
   * Where nobody leads, the wait goes on over new assignments: Kafka would have taken the commits of before in them,
   * too.
   */
  #tentativeSince = Number.POSITIVE_INFINITY;

  constructor(ports: GroupClaimPorts) {
    this.#ports = ports;
  }

  /** The metadata of each offset that is committed from now on; `null` before the place is known. */
  get metadata(): string | null {
    return this.#place && claimText(this.#place);
  }

  /** @throws FatalError `GROUP_WRITES_ELSEWHERE` when an offset of the group was committed for another place */
  async check(): Promise<void> {
    await this.#find(await this.#ports.place());
  }

  /**
   * Resolves when the group is known to write where this process does, or when the signal is aborted.
   *
   * @throws OutageError while PostgreSQL or Kafka is away
   * @throws FatalError `GROUP_WRITES_ELSEWHERE` when it writes elsewhere
   */
  async hold(member: ClaimingMember, signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const timeoutMs = this.#ports.sessionTimeoutMs + MARGIN_MS;
    const joinedAt = clock.steady().getTime();
    let tentativeSince = member.isLeader === null ? this.#tentativeSince : Number.POSITIVE_INFINITY;
    while (!signal.aborted) {
      const place = await this.#ports.place();
      const { isHeld, offsets } = await this.#find(place);
      const now = clock.steady().getTime();
      if (isHeld || signal.aborted) {
        return;
      }
      const isLate = member.isLeader === null || now - joinedAt >= timeoutMs;
      if (member.isLeader || now - tentativeSince >= timeoutMs) {
        await this.#commit(member, offsets, claimText(place), signal).catch(isLate ? rethrow : unjoined);
      } else if (isLate && tentativeSince > now) {
        this.#ports.logger.info({ ...place }, `claiming the group: ${whyWithoutLeader(member)}`);
        await this.#commit(member, offsets, claimText(place, true), signal);
        tentativeSince = clock.steady().getTime();
        this.#tentativeSince = tentativeSince;
      }
      await clock.wait(CLAIM_POLL_MS, signal);
    }
  }

  async #find(place: WritePlace): Promise<{ readonly isHeld: boolean; readonly offsets: readonly GroupOffset[] }> {
    const { admin, groupId } = this.#ports;
    this.#place = place;
    const offsets = await admin.groupOffsets(groupId);
    const claims = offsets.flatMap(({ metadata }) => claimOf(metadata) ?? []);
    const other = claims.find((claim) => !isSamePlace(claim, place));
    if (other) {
      throw new FatalError(
        'GROUP_WRITES_ELSEWHERE',
        `the group ${groupId} writes into ${shownPlace(other)}, and this consumer into ${shownPlace(place)}: each of them would ` +
          'have some of the records only. Give this consumer another kafka.groupId, or the same database. After a move ' +
          'to this database, stop all consumers of the group and delete what it committed to Kafka (kafka-consumer-groups.sh ' +
          `--delete --group ${groupId}); positions are read from PostgreSQL`,
      );
    }
    return { isHeld: claims.some(({ isTentative }) => !isTentative), offsets };
  }

  /**
   * Commits an offset that is there again, or the log's start, which says no more than no offset. A topic that Kafka
   * forbids holds no claim, so another one does.
   *
   * @throws FatalError `TOPIC_FORBIDDEN` when it forbids all of them
   */
  async #commit(
    member: ClaimingMember,
    offsets: readonly GroupOffset[],
    metadata: string,
    signal: AbortSignal,
  ): Promise<void> {
    const forbidden = new Map<string, FatalError>();
    for (;;) {
      const position = await this.#holder(member, offsets, forbidden);
      // What was found in one generation is not for the next one to take.
      const error = signal.aborted ? null : await member.commit(position, metadata).then(() => null, forbiddenOnly);
      if (error === null) {
        return;
      }
      forbidden.set(position.topic, error);
    }
  }

  /**
   * @param forbidden topics that hold no claim; those that turn out to be forbidden are added
   * @throws OutageError while no broker leads any partition of the topics that are looked at
   */
  async #holder(
    { assigned, ...member }: ClaimingMember,
    offsets: readonly GroupOffset[],
    forbidden: Map<string, FatalError>,
  ): Promise<Position> {
    const few = member.topics.filter((topic) => !forbidden.has(topic));
    const owned = new Set(assigned.map(({ topic }) => topic));
    const topics = few.length > 0 ? few : [...owned].filter((topic) => !forbidden.has(topic));
    const keys = new Set(assigned.map(partitionKey));
    const isAssigned = (position: Position): boolean => keys.has(partitionKey(position));
    const committed = offsets.flatMap(({ topic, partition, offset }) =>
      offset !== undefined && topics.includes(topic) ? { topic, partition, offset } : [],
    );
    const held = committed.find(isAssigned);
    if (held !== undefined) {
      return held;
    }
    const logs = topics.map(async (topic) => {
      const ranges = await this.#ports.admin.logRanges(topic).catch(forbiddenOnly);
      if (!(ranges instanceof FatalError)) {
        return ranges;
      }
      forbidden.set(topic, ranges);
      return [];
    });
    const starts = (await Promise.all(logs))
      .flat()
      .filter((log) => !log.isLeaderless)
      .map(({ topic, partition, start }) => ({ topic, partition, offset: start }));
    const position = starts.find(isAssigned) ?? committed[0] ?? starts[0];
    if (position === undefined && topics.length > 0 && topics.every((topic) => forbidden.has(topic))) {
      return this.#holder({ assigned, ...member }, offsets, forbidden);
    }
    if (position === undefined) {
      const [error] = [...owned, ...forbidden.keys()].flatMap((topic) => forbidden.get(topic) ?? []);
      throw error ?? new OutageError('Kafka has no leader for any partition of the topics', { reason: 'kafka_away' });
    }
    return position;
  }
}
