import { partitionKey, type TopicPartition } from '../../records/record.ts';
import type { InGeneration } from './coordinator.ts';
import type { Assignment } from './group-member.ts';
import { NO_GENERATION } from './member-metadata.ts';

/** A member without an id: the coordinator makes one for who joins like that. */
const NO_MEMBER_ID = '';

/**
 * What a member knows of itself.
 *
 * It goes on with what it owns while it joins, and after a generation that it did not hear of. Why another owner of a
 * partition does no harm meanwhile (docs/decisions/0032-membership-of-our-own.md):
 *
 * 1. Each transaction of a partition moves the stored offset from exactly the value at which its records begin, or
 *    writes nothing. The update locks the row, so of two from one value the second finds another one.
 * 2. Rows, dead letters and rows by key are behind that update in the same transaction. So the committed transactions
 *    are a chain, each from where the one before ended, whoever wrote it: no record is in two, and no older value of a
 *    key comes last.
 * 3. Who is turned away goes on from the stored offset, or learns that the partition is gone.
 * 4. Two that go on for ever would turn each other away for ever. So a member is expelled, and writes nothing before it
 *    has joined again, when the group may believe that it is dead.
 */
export class MemberState {
  #id = NO_MEMBER_ID;
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

  /**
   * The member in the generation that gave what it owns; `null`: it may own nothing. The coordinator takes offsets of
   * the generation of now alone: so none is committed by a member to which that one has not given anything yet.
   */
  get owning(): InGeneration | null {
    return this.#isExpelled ? null : { memberId: this.#id, generationId: this.#ownedSince };
  }

  /** Whether it may fetch and write what it owns. */
  get isWriting(): boolean {
    return !this.#isExpelled;
  }

  /**
   * When a request was sent that the coordinator answered, in milliseconds: until then the member was alive for sure.
   */
  get signAt(): number {
    return this.#signAt;
  }

  /**
   * What it says to own when it joins. One that was expelled says it, too: who came after it has a later generation.
   */
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
    this.#id = NO_MEMBER_ID;
    this.#generation = NO_GENERATION;
  }
}
