import { isRead, type TopicNames } from '../../../settings/sections/tables/topic-template.ts';
import type { TopicPartition } from '../../records/record.ts';
import { loadKafkajs } from '../kafkajs/patches.ts';
import type { JoinedMember } from './sticky-assignment.ts';

const { MemberMetadata, MemberAssignment } = loadKafkajs().AssignerProtocol;

/**
 * The group uses the first protocol that all its members offer: this one, once none of the version before is a member.
 */
export const STICKY = 'stream-consumer-sticky';

/** The protocol of members of the version before, which is kafkajs's own. */
export const ROUND_ROBIN = 'RoundRobinAssigner';

/**
 * Version 0 of both formats. Brokers read them where members of KIP-848 are in the group, and kafkajs can write no
 * later one: what a member owns is in its user data instead.
 */
const FORMAT_VERSION = 0;

/** The generation of a member that has none. */
export const NO_GENERATION = -1;

/** A member as the others see it. */
export interface DescribedMember extends JoinedMember {
  /** The place that it runs in; two processes with the same one follow each other. */
  readonly instanceId: string | null;
  /** When the process was started, by its clock, in milliseconds since 1970; 0: not known. */
  readonly startedAt: number;
  /** What it takes beside its topics. Left out: nothing. */
  readonly templates?: TopicNames;
}

/** Partitions by their topics, as in the formats. */
type ByTopic = Readonly<Record<string, number[]>>;

function byTopic(partitions: readonly TopicPartition[]): ByTopic {
  const topics = new Map<string, number[]>();
  for (const { topic, partition } of partitions) {
    const others = topics.get(topic);
    others === undefined ? topics.set(topic, [partition]) : others.push(partition);
  }
  return Object.fromEntries(topics);
}

/** What a member says of itself when it joins. */
export function encodeMember({
  topics,
  owned,
  generation,
  isLeaving,
  instanceId,
  startedAt,
  templates,
}: Omit<DescribedMember, 'id'>): Buffer {
  const said = {
    owned: byTopic(owned),
    generation,
    started: startedAt,
    ...(isLeaving && { leaving: true }),
    ...(instanceId !== null && { instance: instanceId }),
    ...(templates && { templates }),
  };
  return MemberMetadata.encode({
    version: FORMAT_VERSION,
    topics: [...topics],
    userData: Buffer.from(JSON.stringify(said)),
  });
}

/**
 * Reads what a member says of itself. One of the version before names its topics alone: when it joins, it has given up
 * all. What cannot be read counts as not said.
 */
export function decodeMember(id: string, metadata: Buffer): DescribedMember {
  const { topics, userData } = subscriptionOf(metadata);
  const said = objectOf(userData);
  const instanceId = Reflect.get(said, 'instance');
  const startedAt = Reflect.get(said, 'started');
  const templates = templatesIn(said);
  return {
    id,
    topics,
    ...claimIn(said),
    ...(templates && { templates }),
    isLeaving: Reflect.get(said, 'leaving') === true,
    instanceId: typeof instanceId === 'string' ? instanceId : null,
    startedAt: isCount(startedAt) ? startedAt : 0,
  };
}

function subscriptionOf(metadata: Buffer): { readonly topics: readonly string[]; readonly userData: Buffer | null } {
  try {
    const { topics, userData } = MemberMetadata.decode(metadata) ?? { topics: [], userData: null };
    return { topics: topics.filter((topic) => typeof topic === 'string'), userData };
  } catch {
    return { topics: [], userData: null };
  }
}

function objectOf(userData: Buffer | null): object {
  try {
    return Object(JSON.parse(userData?.toString() ?? ''));
  } catch {
    return {};
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function claimIn(said: object): Pick<JoinedMember, 'owned' | 'generation'> {
  const generation: unknown = Reflect.get(said, 'generation');
  const owned = Object.entries<unknown>(Object(Reflect.get(said, 'owned'))).flatMap(([topic, partitions]) =>
    Array.isArray(partitions) ? partitions.filter(isCount).map((partition) => ({ topic, partition })) : [],
  );
  return isCount(generation) ? { owned, generation } : { owned: [], generation: NO_GENERATION };
}

const textsIn = (said: object, key: string): readonly string[] => {
  const texts: unknown = Reflect.get(said, key);
  return Array.isArray(texts) ? texts.filter((text) => typeof text === 'string') : [];
};

/** What cannot be read takes nothing. */
function templatesIn(said: object): TopicNames | undefined {
  const templates: unknown = Reflect.get(said, 'templates');
  if (templates === undefined) {
    return undefined;
  }
  const read: unknown = Reflect.get(Object(templates), 'read');
  const deadLetters: unknown = Reflect.get(Object(templates), 'deadLetters');
  return {
    read: (Array.isArray(read) ? read : []).map((choice) => ({
      topics: textsIn(Object(choice), 'topics'),
      except: textsIn(Object(choice), 'except'),
    })),
    deadLetters: typeof deadLetters === 'string' ? deadLetters : undefined,
  };
}

/** What the leader assigns to a member. */
export const encodeAssignment = (partitions: readonly TopicPartition[]): Buffer =>
  MemberAssignment.encode({ version: FORMAT_VERSION, assignment: byTopic(partitions), userData: Buffer.alloc(0) });

/**
 * What the leader assigned to the member. A leader of before assigns by its own topics, so some may not be the
 * member's.
 *
 * @param takes whether a topic is the member's
 */
export function decodeAssignment(assignment: Buffer, takes: (topic: string) => boolean): readonly TopicPartition[] {
  const assigned = MemberAssignment.decode(assignment)?.assignment ?? {};
  return Object.entries(assigned).flatMap(([topic, partitions]) =>
    takes(topic) ? partitions.map((partition) => ({ topic, partition })) : [],
  );
}

/** What a member takes by templates. */
export interface MemberTemplates {
  /** Topics that the settings name: these alone have to be there, and may not be forbidden. */
  readonly names: readonly string[];
  /** What the others are sent of the settings. */
  readonly choices: TopicNames;
  /** All topics of the cluster, as it was listed last; another list each time. */
  readonly cluster: readonly string[];
  takes(topic: string): boolean;
}

/**
 * Which topics a leader assigns to members that take them by templates. A member is assigned what its own templates
 * take, whatever those of the leader are. What the list of the leader lacks is assigned as long as a member owns it, as
 * members name what they own.
 */
export class MatchedTopics {
  readonly #templates: Pick<MemberTemplates, 'cluster'>;
  #cluster: readonly string[] = [];
  /** Topics of the cluster, by the templates that take them. */
  #found = new Map<string, readonly string[]>();

  constructor(templates: Pick<MemberTemplates, 'cluster'>) {
    this.#templates = templates;
  }

  /** The members, each subscribed to all that its templates take. */
  subscribed(members: readonly DescribedMember[]): readonly DescribedMember[] {
    const named = [...new Set(members.flatMap(({ topics }) => topics))];
    return members.map((member) => {
      const { templates } = member;
      if (templates === undefined) {
        return member;
      }
      const taken = named.filter((topic) => isRead(topic, templates));
      return { ...member, topics: [...new Set([...member.topics, ...taken, ...this.#takenBy(templates)])] };
    });
  }

  /** Whether the cluster has a topic that a member takes and that was not assigned. */
  hasNew(members: readonly DescribedMember[], assigned: { has(topic: string): boolean }): boolean {
    return members.some(({ templates }) => templates && this.#takenBy(templates).some((topic) => !assigned.has(topic)));
  }

  #takenBy(templates: TopicNames): readonly string[] {
    const { cluster } = this.#templates;
    if (cluster !== this.#cluster) {
      this.#cluster = cluster;
      this.#found = new Map();
    }
    const key = JSON.stringify(templates);
    const found = this.#found.get(key) ?? cluster.filter((topic) => isRead(topic, templates));
    this.#found.set(key, found);
    return found;
  }
}
