import { partitionKey, type TopicPartition } from '../../records/record.ts';
import type { InGeneration } from './coordinator.ts';
import type { Assignment } from './group-member.ts';
import { NO_GENERATION } from './member-metadata.ts';

/** A member without an id: the coordinator makes one for who joins like that. */
const NO_ID = '';

/**
 * What a member knows of itself.
 *
 * It goes on with what it owns while it joins, and after a generation that it did not hear of: whoever the group gave a
 * partition meanwhile moves the stored offset by a compare-and-set, as this member does, so one of the two is refused, and
 * nothing is written twice (docs/decisions/0032-membership-of-our-own.md). It is expelled when the group may believe that it
 * is dead; otherwise the two would refuse each other for ever.
 */
export class MemberState {
  #id = NO_ID;
  #generation = NO_GENERATION;
  #owned: readonly TopicPartition[] = [];
  /** The generation that gave what is owned; a later one may have been joined, and have given nothing yet. */
  #ownedSince = NO_GENERATION;
  #isExpelled = true;
  #signAt = Number.NEGATIVE_INFINITY;

  /** The id, which the next join is sent with. */
  get id(): string {
    return this.#id;
  }

  /** The member in the generation that was joined last; `null`: in none by its id. */
  get inGeneration(): InGeneration | null {
    return this.#generation === NO_GENERATION ? null : { memberId: this.#id, generationId: this.#generation };
  }

  /** Whether it may fetch and write what it owns. */
  get isWriting(): boolean {
    return !this.#isExpelled;
  }

  /** When a request was sent that the coordinator answered, in milliseconds: until then the member was alive for sure. */
  get signAt(): number {
    return this.#signAt;
  }

  /** What it says to own when it joins. One that was expelled says it, too: who came after it has a later generation. */
  get claim(): { readonly owned: readonly TopicPartition[]; readonly generation: number } {
    return { owned: this.#owned, generation: this.#ownedSince };
  }

  /** The coordinator made an id, and no generation has it yet. */
  identified(id: string): void {
    this.#id = id;
    this.#generation = NO_GENERATION;
  }

  joined({ memberId, generationId }: InGeneration): void {
    this.#id = memberId;
    this.#generation = generationId;
  }

  /** Takes what the generation gave. */
  assigned(owned: readonly TopicPartition[]): Pick<Assignment, 'owned' | 'added' | 'revoked'> {
    const before = new Set(this.#isExpelled ? [] : this.#owned.map(partitionKey));
    const now = new Set(owned.map(partitionKey));
    const revoked = this.#isExpelled ? [] : this.#owned.filter((each) => !now.has(partitionKey(each)));
    this.#owned = owned;
    this.#ownedSince = this.#generation;
    this.#isExpelled = false;
    return { owned, added: owned.filter((each) => !before.has(partitionKey(each))), revoked };
  }

  /** The coordinator answered a request that was sent then. */
  answered(sentAt: number): void {
    this.#signAt = Math.max(this.#signAt, sentAt);
  }

  /** @returns whether that is news */
  expelled(): boolean {
    const wasWriting = this.isWriting;
    this.#isExpelled = true;
    return wasWriting;
  }

  /** The coordinator does not know the id. */
  forgotten(): void {
    this.#id = NO_ID;
    this.#generation = NO_GENERATION;
  }
}
