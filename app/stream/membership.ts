import { type Clock, timeOfDay } from './clock.ts';
import type { ConsumerReport } from './consumer-state.ts';

/** Whether the process is a member of its group, as the group's coordinator confirmed it last. Times are steady. */
export class Membership {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #startedAt: Date;
  #confirmedAt: Date | null = null;

  /** @param timeoutMs time without a sign of the coordinator after which the process counts as out of the group */
  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#startedAt = clock.steady();
  }

  /** The coordinator gave an assignment, or answered a heartbeat. */
  confirmed(): void {
    this.#confirmedAt = this.#clock.steady();
  }

  report(now: Date): Pick<ConsumerReport, 'unjoinedMs' | 'outOfGroupSince'> {
    const steadyNow = this.#clock.steady();
    if (this.#confirmedAt === null) {
      return { unjoinedMs: steadyNow.getTime() - this.#startedAt.getTime() };
    }
    const isMember = steadyNow.getTime() - this.#confirmedAt.getTime() <= this.#timeoutMs;
    return isMember ? {} : { outOfGroupSince: timeOfDay(this.#confirmedAt, steadyNow, now) };
  }
}
