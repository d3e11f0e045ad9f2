import type { ConsumerReport } from './partition/consumer-state.ts';
import { type Clock, timeOfDay } from './ports/clock.ts';

/** Whether the process is a member of its group, as the group's coordinator confirmed it last. Times are steady. */
export class Membership {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  /** When each topic was first asked for; of one that Kafka has, when it last said so. */
  readonly #askedAt = new Map<string, Date>();
  #confirmedAt: Date | null = null;

  /** @param timeoutMs time without a sign of the coordinator after which the process counts as out of the group */
  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Kafka is asked about these topics from now on: for the first time, or after it said that it has them, so that what
   * kept the group from being joined until then was something else than Kafka's silence.
   */
  asked(topics: readonly string[]): void {
    for (const topic of topics) {
      this.#askedAt.set(topic, this.#clock.steady());
    }
  }

  /** The coordinator gave an assignment, or answered a heartbeat. */
  confirmed(): void {
    this.#confirmedAt = this.#clock.steady();
  }

  report(now: Date): Pick<ConsumerReport, 'unjoined' | 'outOfGroupSince'> {
    const steadyNow = this.#clock.steady();
    if (this.#confirmedAt === null) {
      const ages = [...this.#askedAt].map(([topic, at]) => [topic, steadyNow.getTime() - at.getTime()] as const);
      return { unjoined: new Map(ages) };
    }
    const isMember = steadyNow.getTime() - this.#confirmedAt.getTime() <= this.#timeoutMs;
    return isMember ? {} : { outOfGroupSince: timeOfDay(this.#confirmedAt, steadyNow, now) };
  }
}
