import { timeOfDay } from '../ports/clock.ts';
import type { PartitionReport } from './consumer-state.ts';

/** Measures how long the batch in hand of a partition has been waiting for its schemas, over all attempts. */
export class SchemaWait {
  #since: Date | null = null;
  /** Why the last attempt failed. */
  #reason: string | null = null;

  /**
   * Schemas are being fetched. Where that fails, the batch is fetched again and goes on waiting.
   *
   * @param fetching `undefined`: none is missing
   */
  async during(fetching: Promise<void> | undefined, steadyNow: Date): Promise<void> {
    if (fetching === undefined) {
      this.#end();
      return;
    }
    this.#since ??= steadyNow;
    try {
      await fetching;
    } catch (error) {
      this.#reason = error instanceof Error ? error.message : String(error);
      throw error;
    }
    this.#end();
  }

  #end(): void {
    this.#since = null;
    this.#reason = null;
  }

  report(steadyNow: Date, now: Date): Pick<PartitionReport, 'schemasAwaited'> {
    return this.#since === null
      ? {}
      : { schemasAwaited: { since: timeOfDay(this.#since, steadyNow, now), reason: this.#reason } };
  }
}

/** Since when the oldest batch of these partitions waits for schemas; `null` where none does. */
export function oldestSchemaWait(partitions: readonly PartitionReport[]): Date | null {
  const waits = partitions.flatMap(({ schemasAwaited }) => (schemasAwaited ? [schemasAwaited.since] : []));
  return waits.reduce<Date | null>((oldest, since) => (oldest === null || since < oldest ? since : oldest), null);
}
