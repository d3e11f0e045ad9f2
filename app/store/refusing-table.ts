import type { PoolClient } from 'pg';
import { OutageError } from '../stream/stream-errors.ts';
import { copyInto } from './binary-copy.ts';
import { RowRefused } from './isolate-poison.ts';
import type { OwnTables } from './own-tables.ts';
import { RECORDS } from './record-rows.ts';
import { asRefusal, describeDatabaseError } from './sqlstate.ts';

/** The tables of a group. */
interface TableOwner {
  readonly schema: string;
  readonly groupId: string;
  readonly tables: OwnTables;
}

/**
 * Whether a refusal is about the table instead of a row: then no record becomes a dead letter for it, and all stay ahead
 * of the stored offset.
 */
export class RefusingTable {
  readonly #client: PoolClient;
  readonly #target: TableOwner;
  #hasTried = false;

  constructor(client: PoolClient, target: TableOwner) {
    this.#client = client;
    this.#target = target;
  }

  /**
   * Asked with the transaction back at its savepoint.
   *
   * @throws FatalError `RECORD_ALREADY_WRITTEN` for a duplicate of its primary key
   * @throws OutageError when the table does not even take a COPY of no rows
   */
  async requireInnocent({ index, cause }: RowRefused): Promise<void> {
    const { tables, groupId } = this.#target;
    await tables.requireUnwritten(this.#client, groupId, cause);
    if (index === null && !this.#hasTried) {
      await this.#requireOpen();
      this.#hasTried = true;
    }
  }

  /** A statement trigger refuses a COPY whatever its rows are, and names none. */
  async #requireOpen(): Promise<void> {
    const { schema } = this.#target;
    await copyInto(this.#client, schema, RECORDS, Buffer.alloc(0)).catch((error: unknown) => {
      if (!(asRefusal(error) instanceof RowRefused)) {
        throw error;
      }
      throw new OutageError(
        `the table records takes no COPY for now, not even of no rows: ${describeDatabaseError(error)}`,
        { cause: error, reason: 'database_busy' },
      );
    });
    await this.#client.query('ROLLBACK TO SAVEPOINT part');
  }
}
