import { isRead, type TopicNames } from '../../../settings/sections/tables/topic-template.ts';
import type { DescribedMember } from './member-metadata.ts';

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
