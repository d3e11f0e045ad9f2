import type { TopicPartition } from '../../records/record.ts';
import type { OutageError } from '../ports/stream-errors.ts';
import type { StreamPorts } from './stream-ports.ts';

/** For so long a change of owners explains that another one wrote, in milliseconds. */
const HANDOVER_MS = 10_000;

/**
 * What a write that failed is:
 *
 * - `handover`: the partition was changing owners
 * - `set aside`: it may have been, and is not counted before the next assignment shows it
 * - `counted`: something else
 */
type Explanation = 'handover' | 'set aside' | 'counted';

/** A failed write that is not counted yet. */
interface SetAside {
  readonly outage: OutageError | null;
  readonly ended: AbortController;
}

/**
 * Distinguishes writes of one partition that failed because it was changing owners from those that failed because of a
 * second writer, and counts both.
 *
 * A partition goes from one member to another without a pause. Each of them learns of it at its own time, and the
 * former owner finishes the transaction under way. So for a moment both write, and PostgreSQL refuses one of them
 * (compare-and-set.ts has why that is harmless):
 *
 * - The new owner waits for that last transaction, or finds the offset moved by it. In the 10 s after the partition was
 *   won, that explains one wait for the lock, and one offset that had been moved. Together they are one handover.
 * - PostgreSQL refuses the former owner when the new one was first, before or after the former owner learns that the
 *   partition is gone. So one failed write is set aside. If the partition is revoked within 10 s, it was a handover. If
 *   a generation keeps the partition, or 10 s pass, it counts after all.
 *
 * A second writer that the group does not know of goes on: each further write that it is first with counts at once.
 */
export class Handover {
  readonly #partition: TopicPartition;
  readonly #ports: Pick<StreamPorts, 'listener' | 'clock'>;
  /** By the steady clock; `null`: the partition was owned before. */
  readonly #wonAt: number | null;
  #isMoved = false;
  #isReported = false;
  #isRevoked = false;
  #setAside: SetAside | null = null;

  /** @param isWon whether the group has just given the partition */
  constructor(partition: TopicPartition, ports: Pick<StreamPorts, 'listener' | 'clock'>, isWon: boolean) {
    this.#partition = partition;
    this.#ports = ports;
    this.#wonAt = isWon ? ports.clock.steady().getTime() : null;
  }

  /** @param outage how the write ended; `null`: another writer had moved the offset */
  failed(outage: OutageError | null): Explanation {
    if (outage === null || outage.isLockWait) {
      if (this.#isRevoked || this.#isOfFormerOwner(outage)) {
        this.#report();
        return 'handover';
      }
      if (this.#setAside === null) {
        this.#waitForAssignment(outage);
        return 'set aside';
      }
    }
    this.#count(outage);
    return 'counted';
  }

  /** The group gave the partition to another member, or may have. */
  revoked(): void {
    this.#isRevoked = true;
    this.#isReported = false;
    if (this.#takeSetAside()) {
      this.#report();
    }
  }

  /** No assignment took the partition away: what was set aside was no handover. */
  kept(): void {
    const setAside = this.#takeSetAside();
    if (setAside) {
      this.#count(setAside.outage);
      this.#ports.listener.onRetry();
    }
  }

  /** Whether the former owner's last transaction explains it, which ends once, and then has moved the offset. */
  #isOfFormerOwner(outage: OutageError | null): boolean {
    const now = this.#ports.clock.steady().getTime();
    if (this.#wonAt === null || now - this.#wonAt > HANDOVER_MS || this.#isMoved || (outage && this.#isReported)) {
      return false;
    }
    this.#isMoved = outage === null;
    return true;
  }

  #waitForAssignment(outage: OutageError | null): void {
    const ended = new AbortController();
    this.#setAside = { outage, ended };
    void this.#ports.clock.wait(HANDOVER_MS, ended.signal).then(() => ended.signal.aborted || this.kept());
  }

  #takeSetAside(): SetAside | null {
    const setAside = this.#setAside;
    this.#setAside = null;
    setAside?.ended.abort();
    return setAside;
  }

  #count(outage: OutageError | null): void {
    const { listener } = this.#ports;
    outage === null ? listener.onFenced(this.#partition) : listener.onFailed(this.#partition, outage);
  }

  /** Once for each generation that moves the partition. */
  #report(): void {
    if (!this.#isReported) {
      this.#isReported = true;
      this.#ports.listener.onHandover(this.#partition);
    }
  }
}
