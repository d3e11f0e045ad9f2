import { OutageError } from '../../stream/ports/stream-errors.ts';
import { isCancelled } from '../connection/sqlstate.ts';

/** Whether a table was waited for in vain: it is locked, or a row of it, or its statement took longer than it may. */
const isWaitForTable = (error: unknown): error is OutageError & { readonly table: string } =>
  error instanceof OutageError && error.table !== undefined && (error.isLockWait || isCancelled(error.cause));

/** Attempts a write; one that is patient waits for a lock as long as a statement may, others for some seconds. */
type Write<Outcome> = (isPatient: boolean) => Promise<Outcome>;

/**
 * Keeps a table that takes no rows for now from taking the connections of all others: once it was waited for in vain,
 * one write waits for it, on one connection, and all others wait for that one without any.
 *
 * Each write that waits for a lock ends no later than it would by itself. When the one that waits gives up, those
 * behind it end with the same outage, as each would have for the same lock. Nothing of them was sent, and their records
 * stay ahead of the stored offset. When it is done they all go on at once.
 */
export class TableTurns {
  /** Tables that were waited for in vain; each with the write that waits for it, if one does. */
  readonly #heldUp = new Map<string, Promise<void> | null>();

  /** Whether one of the tables was waited for in vain, and has taken no rows since. */
  isHeldUp(tables: () => readonly string[]): boolean {
    return this.#heldUp.size > 0 && tables().some((table) => this.#heldUp.has(table));
  }

  /** Notes the table that a write was waiting for in vain. @returns whether that is how the write ended */
  note(error: unknown): error is OutageError {
    if (!isWaitForTable(error)) {
      return false;
    }
    if (!this.#heldUp.has(error.table)) {
      this.#heldUp.set(error.table, null);
    }
    return true;
  }

  /**
   * Writes into tables: patiently in turn where one of them is held up.
   *
   * @throws OutageError that of the write before, where that one was waiting for the same table in vain
   */
  async write<Outcome>(tables: () => readonly string[], write: Write<Outcome>): Promise<Outcome> {
    for (;;) {
      const heldUp = this.#heldUp.size === 0 ? [] : tables().filter((table) => this.#heldUp.has(table));
      const [before] = heldUp.flatMap((table) => this.#heldUp.get(table) ?? []);
      if (before !== undefined) {
        await before;
      } else if (heldUp.length > 0) {
        return this.#writeInTurn(heldUp, write);
      } else {
        try {
          return await write(false);
        } catch (error) {
          if (!this.#isWaitedFor(error)) {
            throw error;
          }
        }
      }
    }
  }

  /** What took as long as a statement may is not begun again at once. */
  #isWaitedFor(error: unknown): boolean {
    return this.note(error) && error.isLockWait;
  }

  #writeInTurn<Outcome>(tables: readonly string[], write: Write<Outcome>): Promise<Outcome> {
    const writing = this.#writePatiently(tables, write);
    const turn = writing.then(
      () => undefined,
      (error: unknown) => {
        if (isWaitForTable(error)) {
          throw error;
        }
      },
    );
    turn.catch(() => undefined);
    for (const table of tables) {
      this.#heldUp.set(table, turn);
    }
    return writing;
  }

  async #writePatiently<Outcome>(tables: readonly string[], write: Write<Outcome>): Promise<Outcome> {
    try {
      const outcome = await write(true);
      for (const table of tables) {
        this.#heldUp.delete(table);
      }
      return outcome;
    } catch (error) {
      for (const table of tables) {
        this.#heldUp.set(table, null);
      }
      throw error;
    }
  }
}
