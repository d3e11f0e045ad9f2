import type { Logger } from '../../logging/logger.ts';
import type { Clock } from '../../stream/ports/clock.ts';
import { FatalError } from '../../stream/ports/stream-errors.ts';
import { causesOf, errorTypeOf } from '../client/kafka-errors.ts';
import type { Coordinator } from './coordinator.ts';
import { type DescribedMember, decodeMember } from './member-metadata.ts';

/** The state in which a coordinator passes on what the members say of themselves; the others end soon. */
const STABLE = 'Stable';

/** States of a group without members. */
const WITHOUT_MEMBERS: ReadonlySet<string> = new Set(['Empty', 'Dead']);

/** The pause between two looks at a group that is being joined. */
const SUCCESSOR_POLL_MS = 250;

/** A place that a process runs in. */
interface Instance {
  readonly groupId: string;
  readonly instanceId: string;
}

/** What the place is looked at with. */
interface PlacePorts {
  readonly coordinator: Pick<Coordinator, 'describe' | 'leave'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Whether the brokers do not offer the request. */
const isNotOffered = (error: unknown): boolean =>
  [...causesOf(error)].some(({ name }) => name === 'KafkaJSServerDoesNotSupportApiKey');

/**
 * The members that were started with one instance id. They follow each other, so the one that was started last stays.
 *
 * A coordinator may know the generation before the last one alone, with members in it that left since. So who is in the
 * group says nothing about who came last: the time of the start does.
 */
export class MemberPlace {
  readonly #ports: PlacePorts;
  #place: Instance | null;
  readonly #startedAt: number;
  readonly #timeoutMs: number;
  #isToLook = true;
  #mayHaveSuccessor = false;

  /** @param timeoutMs for how long a successor is looked for in a group that is being joined, in milliseconds */
  constructor(
    {
      groupId,
      instanceId,
      startedAt,
    }: { readonly groupId: string } & Pick<DescribedMember, 'instanceId' | 'startedAt'>,
    ports: PlacePorts,
    timeoutMs: number,
  ) {
    this.#ports = ports;
    this.#place = instanceId === null ? null : { groupId, instanceId };
    this.#startedAt = startedAt;
    this.#timeoutMs = timeoutMs;
  }

  /** The coordinator does not know the member any more: a newer one may have its place, or its session was over. */
  forgotten(): void {
    this.#isToLook = true;
    this.#mayHaveSuccessor = true;
  }

  /** The group gave the member something to own: whoever ran there before is gone. */
  settled(): void {
    this.#isToLook = false;
    this.#mayHaveSuccessor = false;
  }

  /**
   * Leaves the group for the members that ran in the place before, which were killed: the group would wait for the end
   * of their sessions. Where others join at the moment, the coordinator does not answer who they were: the next join
   * looks again.
   *
   * @param ownId the member's; it stays
   * @throws FatalError `GROUP_INSTANCE_REPLACED` when a newer member has the place
   */
  async clear(ownId: string, signal: AbortSignal): Promise<void> {
    if (this.#place === null || !this.#isToLook) {
      return;
    }
    const found = await this.#look(this.#place, signal).catch((error: unknown) => this.#notOffered(error));
    this.#mayHaveSuccessor = false;
    if (found === null) {
      return;
    }
    if (found.some(({ startedAt }) => startedAt > this.#startedAt)) {
      throw replacedBySuccessor(this.#place);
    }
    for (const { id } of found.filter((former) => former.id !== ownId)) {
      await this.#leaveFor(id);
    }
    this.#isToLook = false;
  }

  #notOffered(error: unknown): null {
    if (!isNotOffered(error)) {
      throw error;
    }
    this.#place = null;
    const what =
      'the brokers do not describe groups (DescribeGroups): the partitions of a process that was killed are with';
    this.#ports.logger.warn({}, `${what} the group again once its session is over`);
    return null;
  }

  async #leaveFor(memberId: string): Promise<void> {
    await this.#ports.coordinator.leave(memberId).catch((error: unknown) => {
      if (errorTypeOf(error) !== 'UNKNOWN_MEMBER_ID') {
        throw error;
      }
    });
  }

  /** @returns the members in the place; `null`: the coordinator does not know them now */
  async #look(place: Instance, signal: AbortSignal): Promise<readonly DescribedMember[] | null> {
    const { clock } = this.#ports;
    const until = clock.steady().getTime() + (this.#mayHaveSuccessor ? this.#timeoutMs : 0);
    let found = await this.#members(place);
    while (found === null && clock.steady().getTime() < until && !signal.aborted) {
      await clock.wait(SUCCESSOR_POLL_MS, signal);
      found = await this.#members(place);
    }
    return found;
  }

  async #members({ instanceId }: Instance): Promise<readonly DescribedMember[] | null> {
    const { state, members } = await this.#ports.coordinator.describe();
    if (state !== STABLE && !WITHOUT_MEMBERS.has(state)) {
      return null;
    }
    return members
      .map(({ memberId, memberMetadata }) => decodeMember(memberId, memberMetadata))
      .filter((member) => member.instanceId === instanceId);
  }
}

/** The error `GROUP_INSTANCE_REPLACED` of a process whose place a newer one has taken. */
export const replacedBySuccessor = ({ groupId, instanceId }: Instance): FatalError =>
  new FatalError(
    'GROUP_INSTANCE_REPLACED',
    `another consumer of the group ${groupId} has taken the place of this one: it was started with the same ` +
      `kafka.groupInstanceId (KAFKA_GROUP_INSTANCE_ID), ${instanceId}. Nothing was skipped: its partitions are with the ` +
      'others. Where both are to run, give each a separate id, such as the uid of its Pod, or none',
  );
