import type { Logger } from '../../logging/logger.ts';
import type { TopicPartition } from '../../records/record.ts';
import type { Clock } from '../../stream/ports/clock.ts';
import { EXPELLED, errorTypeOf, isForGood } from '../client/kafka-errors.ts';
import type { Coordinator, Joined, RawMember } from './coordinator.ts';
import { LEAVE_RETRY_MS } from './group-member.ts';
import {
  type DescribedMember,
  decodeAssignment,
  decodeMember,
  encodeAssignment,
  encodeMember,
  MatchedTopics,
  type MemberTemplates,
  ROUND_ROBIN,
  STICKY,
} from './member-metadata.ts';
import type { MemberState } from './member-state.ts';
import { assignSticky, type JoinedMember, type PartitionCounts } from './sticky-assignment.ts';
import { LearnedTopics, type TopicsAnswer, type TopicsPort } from './subscribed-metadata.ts';

/** The others wait for what the leader assigns, so it waits no longer for what the brokers answer about topics. */
const METADATA_TIMEOUT_MS = 2_000;

/** How long a member that leaves waits for its id. */
const MEMBER_ID_TIMEOUT_MS = 300;

/** What a join goes by. */
interface JoinWatch {
  /** Aborted: the member ends, and asks for nothing more. */
  readonly signal: AbortSignal;
  /** Gets what the brokers answer the leader. */
  readonly onTopics: (answer: TopicsAnswer) => void;
}

/** A member's place in its group. */
export interface MemberOptions {
  readonly groupId: string;
  /** The topics that the brokers are asked about, as they are now; without templates these are the subscribed ones. */
  readonly topics: () => readonly string[];
  /** @default none */
  readonly templates?: MemberTemplates;
  /** Silence after which the group gives the partitions of a member to others, in milliseconds. */
  readonly sessionTimeoutMs: number;
  /** The place that the process runs in; `null`: not known. */
  readonly instanceId: string | null;
}

/** What a member works with. */
export interface MemberPorts {
  readonly coordinator: Coordinator;
  readonly topics: TopicsPort;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
}

/** What the leader assigned by. */
interface LedGeneration {
  readonly counts: PartitionCounts;
  /** How many partitions each topic has at least, by what the members owned. */
  readonly owned: ReadonlyMap<string, number>;
  readonly members: readonly DescribedMember[];
}

/** How many partitions each topic has at least, by what the members own. */
function ownedCounts(members: readonly JoinedMember[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { topic, partition } of members.flatMap(({ owned }) => owned)) {
    counts.set(topic, Math.max(counts.get(topic) ?? 0, partition + 1));
  }
  return counts;
}

/**
 * Joins of one member: JoinGroup, what the leader assigns, and SyncGroup.
 *
 * Both protocols are offered, with the same data: the coordinator takes the first one that all members offer. A leader
 * assigns in the same way by both, and members of the version before, which own nothing when they join, get what is
 * left.
 */
export class GroupJoin {
  readonly #options: MemberOptions;
  readonly #ports: MemberPorts;
  readonly #learned: LearnedTopics;
  readonly #matched: MatchedTopics;
  /** When the process was started, by its clock, in milliseconds since 1970. */
  readonly startedAt: number;
  #led: LedGeneration | null = null;
  /** The JoinGroup that is not answered yet. */
  #asking: Promise<Joined> | null = null;

  constructor(options: MemberOptions, ports: MemberPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#learned = new LearnedTopics(ports.topics, ports.clock);
    this.#matched = new MatchedTopics(options.templates ?? { cluster: [] });
    this.startedAt = ports.clock.now().getTime();
  }

  /** Topics that may not be forbidden. */
  get #own(): ReadonlySet<string> {
    const { topics, templates } = this.#options;
    return new Set(templates?.names ?? topics());
  }

  /** Whether JoinGroup is not answered yet. */
  get isAsking(): boolean {
    return this.#asking !== null;
  }

  /** Whether the member leads the generation. */
  get isLeader(): boolean {
    return this.#led !== null;
  }

  /** Whether nobody else is in the generation, as far as the member knows. */
  get isAlone(): boolean {
    return this.#led?.members.length === 1;
  }

  /** Asks about all topics that the member has to know of: its own, and those that it assigns to others. */
  look(): Promise<TopicsAnswer> {
    const topics = new Set([...this.#options.topics(), ...(this.#led?.counts.keys() ?? [])]);
    return this.#learned.ask([...topics], this.#own);
  }

  /** Whether the member leads, and has to assign anew, since topics or partitions came or went. */
  get isStale(): boolean {
    if (this.#led === null) {
      return false;
    }
    const { counts, owned, members } = this.#led;
    const isOther = [...counts].some(([topic, before]) => {
      const count = this.#learned.count(topic, before ?? owned.get(topic) ?? 0);
      return count !== null && count !== before;
    });
    return isOther || this.#matched.hasNew(members, counts);
  }

  /**
   * Joins once. The state has the id and the generation of then, also when the rest fails.
   *
   * @returns what the member is assigned; `null`: the group went on without it meanwhile
   */
  async join(
    state: MemberState,
    isLeaving: boolean,
    { signal, onTopics }: JoinWatch,
  ): Promise<readonly TopicPartition[] | null> {
    const { instanceId, templates } = this.#options;
    const { startedAt } = this;
    const topics = this.#subscribed(state.claim.owned);
    const taking = templates && { templates: templates.choices };
    const said = encodeMember({ topics, ...state.claim, isLeaving, instanceId, startedAt, ...taking });
    const askedAt = this.#now();
    const asking = this.#ask(state, said, signal);
    this.#asking = asking;
    const joined = await asking.finally(() => {
      this.#asking = null;
    });
    state.answered(askedAt);
    const { memberId, generationId, leaderId, members } = joined;
    this.#led = null;
    const assigned = leaderId === memberId ? await this.#assign(members, onTopics) : new Map<string, Buffer>();
    const syncedAt = this.#now();
    const assignment = await this.#ports.coordinator.sync({ memberId, generationId }, assigned);
    const takes = (topic: string): boolean => templates?.takes(topic) ?? topics.includes(topic);
    return this.#isIn(state, joined, syncedAt) ? decodeAssignment(assignment, takes) : null;
  }

  /**
   * Names, and what the member owns by a template: a leader of the version before knows no templates, and would take it
   * away.
   */
  #subscribed(owned: readonly TopicPartition[]): readonly string[] {
    const { topics, templates } = this.#options;
    return templates === undefined
      ? topics()
      : [
          ...new Set([
            ...templates.names,
            ...owned.map(({ topic }) => topic).filter((topic) => templates.takes(topic)),
          ]),
        ];
  }

  /**
   * An answer may be late: the beats may have learned meanwhile that the coordinator does not know the member, or its
   * session may be over. Then others may own what it was assigned.
   */
  #isIn(state: MemberState, { memberId, generationId }: Joined, syncedAt: number): boolean {
    const { inGeneration } = state;
    const isOfNow = inGeneration?.memberId === memberId && inGeneration.generationId === generationId;
    if (isOfNow) {
      state.answered(syncedAt);
    }
    return isOfNow && this.#now() - state.signAt < this.#options.sessionTimeoutMs;
  }

  #now(): number {
    return this.#ports.clock.steady().getTime();
  }

  /**
   * Leaves the group: again at the coordinator of then, where the one of before does not take it. The coordinator may
   * be making the member's id: without it the group would wait for that member.
   */
  async leave(state: MemberState, signal: AbortSignal): Promise<void> {
    const { clock, coordinator } = this.#ports;
    if (state.id === '' && this.#asking !== null) {
      const asked = this.#asking.then(
        () => undefined,
        () => undefined,
      );
      await Promise.race([asked, clock.wait(MEMBER_ID_TIMEOUT_MS, signal)]);
    }
    const { id } = state;
    for (let isMember = id !== ''; isMember && !signal.aborted; ) {
      try {
        await coordinator.leave(id);
        isMember = false;
      } catch (error) {
        isMember = !EXPELLED.has(errorTypeOf(error)) && !isForGood(error);
        await (isMember && clock.wait(LEAVE_RETRY_MS, signal));
      }
    }
  }

  async #ask(state: MemberState, said: Buffer, signal: AbortSignal): Promise<Joined> {
    const protocols = new Map([
      [STICKY, said],
      [ROUND_ROBIN, said],
    ]);
    const joined = await this.#ports.coordinator.join(state.id, protocols).catch((error: unknown) => {
      const { memberId } = error as { readonly memberId?: unknown };
      if (errorTypeOf(error) !== 'MEMBER_ID_REQUIRED' || typeof memberId !== 'string') {
        throw error;
      }
      // The coordinator waits for the member of this id from now on: whatever becomes of the next join, it has to be
      // that one.
      state.identified(memberId);
      signal.throwIfAborted();
      return this.#ports.coordinator.join(memberId, protocols);
    });
    state.joined(joined);
    return joined;
  }

  async #assign(
    raw: readonly RawMember[],
    onTopics: (answer: TopicsAnswer) => void,
  ): Promise<ReadonlyMap<string, Buffer>> {
    const described = raw.map(({ memberId, memberMetadata }) => decodeMember(memberId, memberMetadata));
    const members = this.#matched.subscribed(described);
    const topics = [...new Set(members.flatMap((member) => member.topics))];
    const answer = await this.#learn(topics);
    if (answer !== null) {
      onTopics(answer);
    }
    const owned = ownedCounts(members);
    const counts = new Map(topics.map((topic) => [topic, this.#learned.count(topic, owned.get(topic) ?? 0)]));
    this.#led = { counts, owned, members };
    const assigned = assignSticky(members, counts);
    return new Map([...assigned].map(([id, partitions]) => [id, encodeAssignment(partitions)]));
  }

  /** `null`: the brokers did not answer in time, so the member assigns by what they answered before. */
  async #learn(topics: readonly string[]): Promise<TopicsAnswer | null> {
    const timer = new AbortController();
    const late = this.#ports.clock.wait(METADATA_TIMEOUT_MS, timer.signal).then(() => null);
    const answer = this.#learned.ask(topics, this.#own).catch(() => null);
    return Promise.race([answer, late]).finally(() => timer.abort());
  }
}
