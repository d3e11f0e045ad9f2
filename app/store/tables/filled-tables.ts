import { escapeIdentifier, type PoolClient } from 'pg';
import { type TableSettings, tablesOf } from '../../../settings/sections/tables.ts';
import type { Settings } from '../../../settings/settings.ts';
import { FatalError } from '../../stream/ports/stream-errors.ts';
import { BEGIN } from '../connection/transaction.ts';
import { RECORDS } from './record-rows.ts';

/** As the table `filled_tables` has it. */
interface FilledTable {
  readonly groupId: string;
  readonly topic: string;
  /** Empty where no broker returned it. */
  readonly topicId: string;
  /** `records`, or a table of the user's own with its schema. */
  readonly target: string;
}

/** Another group that fills a table of the user's own which this group fills from the same topic. */
export interface SharedTable {
  readonly table: string;
  readonly topic: string;
  readonly groupId: string;
}

interface TableFiller {
  readonly schema: string;
  readonly groupId: string;
  /** By topic, the tables that this group fills, and those of them that other groups may fill as well. */
  readonly targets: (topic: string) => { readonly all: readonly string[]; readonly shared: ReadonlySet<string> };
  /** Called with tables that another group fills from the same topic without this group's consent, once for each. */
  readonly onShared: (tables: readonly SharedTable[]) => void;
}

const qualifiedName = ({ schema, table }: Pick<TableSettings, 'schema' | 'table'>): string => `${schema}.${table}`;

/**
 * The tables that a topic fills by the settings.
 *
 * @param current the settings of now, another object each time that they change
 */
export function targetsBySettings(current: () => Pick<Settings, 'tables' | 'kafka'>): TableFiller['targets'] {
  let settings = current();
  let tables = tablesOf(settings);
  return (topic) => {
    if (settings !== current()) {
      settings = current();
      tables = tablesOf(settings);
    }
    const own = tables.filter(({ topics }) => topics.includes(topic));
    return {
      all: [...(settings.kafka.topics.includes(topic) ? [RECORDS.table] : []), ...own.map(qualifiedName)],
      shared: new Set(own.filter(({ sharedWithGroups }) => sharedWithGroups).map(qualifiedName)),
    };
  };
}

/** An id that is not known may be any. */
const isSameId = (one: string, other: string): boolean => one === '' || other === '' || one === other;

/**
 * Which groups of the schema fill which tables from which topic: what keeps a second group from filling a user's table
 * with the same records: such a table has no key of ours that would stop it.
 *
 * Of two groups without a stored offset of a topic, one at most comes to write it into a table, unless it consents:
 *
 * 1. A record is written only by a transaction that moves a row of `offsets`, and {@link admit} runs in each
 *    transaction that adds the first rows of a group and a topic. It stores the group's tables with them, or neither is
 *    stored.
 * 2. Such transactions of a schema come one after the other, by {@link lock}, which PostgreSQL gives up only once the
 *    commit can be seen. Each statement behind the lock has a new snapshot (READ COMMITTED), so the second group finds
 *    the tables of the first one, and is refused before it adds an offset.
 * 3. A group whose offsets a program without this table has stored is known by them, and by the lack of its tables: the
 *    second one is refused as long as these are unknown. Such a program takes no lock: where a new group of it begins
 *    at the same moment, both may go on, and this one logs a warning at its next start.
 * 4. A table that comes to the settings of a group with offsets is stored, behind the same lock, before the group
 *    writes into it: {@link record}. So is each table of a group that was upgraded. Such a group is never refused.
 *
 * Nothing here deletes a row: what a group has written stays in the table when the settings no longer name it.
 */
export class FilledTables {
  readonly #filler: TableFiller;
  readonly #table: string;
  readonly #offsets: string;
  /** Shared tables that were reported. */
  readonly #reported = new Set<string>();

  constructor(filler: TableFiller) {
    const schema = escapeIdentifier(filler.schema);
    this.#filler = filler;
    this.#table = `${schema}.filled_tables`;
    this.#offsets = `${schema}.offsets`;
  }

  /** Waits for what other groups store of their tables, until the end of the transaction. */
  async lock(client: PoolClient): Promise<void> {
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `${this.#filler.schema}//filled_tables`,
    ]);
  }

  /**
   * Stores the tables that a topic fills, within a transaction that has the lock.
   *
   * @param topicId empty where it is not known
   * @param hasOffsets whether the group has a stored offset of the topic, so that it is never refused
   * @throws FatalError `GROUP_MEETS_ANOTHER`
   */
  async admit(client: PoolClient, topic: string, topicId: string, hasOffsets: boolean): Promise<void> {
    const ids = new Map([[topic, topicId]]);
    const known = await this.#read(client, ids);
    if (!hasOffsets) {
      await this.#requireAlone(client, known, topic, topicId);
    }
    await this.#store(client, this.#missing(known, ids));
    this.#report(this.#met(known, ids));
  }

  /**
   * Makes sure that a group without a stored offset of the topic may begin with it. Nothing is stored or locked, so it
   * says nothing of what another group does next.
   *
   * @throws FatalError `GROUP_MEETS_ANOTHER`
   */
  async requireAlone(client: PoolClient, topic: string, topicId: string): Promise<void> {
    await this.#requireAlone(client, await this.#read(client, new Map([[topic, topicId]])), topic, topicId);
  }

  async #requireAlone(
    client: PoolClient,
    known: readonly FilledTable[],
    topic: string,
    topicId: string,
  ): Promise<void> {
    const met = this.#met(known, new Map([[topic, topicId]]));
    const unknown = await this.#unknownGroups(client, known, topic, topicId);
    if (met.length > 0 || unknown.length > 0) {
      throw this.#refusal(topic, met, unknown);
    }
  }

  /**
   * Stores the tables that topics fill whose offsets are stored already: those that came to the settings since, and
   * those that an older program filled. Where all are stored, which is nearly always, no lock is waited for.
   *
   * @param ids of the topics by their names, empty where it is not known
   */
  async record(client: PoolClient, ids: ReadonlyMap<string, string>): Promise<void> {
    let known = await this.#read(client, ids);
    if (this.#missing(known, ids).length > 0) {
      await client.query(BEGIN);
      await this.lock(client);
      known = await this.#read(client, ids);
      await this.#store(client, this.#missing(known, ids));
      await client.query('COMMIT');
    }
    this.#report(this.#met(known, ids));
  }

  /** Those of topics with these ids, of all groups. */
  async #read(client: PoolClient, ids: ReadonlyMap<string, string>): Promise<readonly FilledTable[]> {
    const { rows } = await client.query<FilledTable>(
      `SELECT DISTINCT group_id AS "groupId", topic, topic_id AS "topicId", target FROM ${this.#table}
        WHERE topic = ANY ($1) ORDER BY 1, 2, 4, 3`,
      [[...ids.keys()]],
    );
    return rows.filter(({ topic, topicId }) => isSameId(topicId, ids.get(topic) ?? ''));
  }

  /** What this group fills and is not stored. */
  #missing(known: readonly FilledTable[], ids: ReadonlyMap<string, string>): readonly FilledTable[] {
    const { groupId, targets } = this.#filler;
    return [...ids].flatMap(([topic, topicId]) => {
      const own = known.filter((each) => each.groupId === groupId && each.topic === topic);
      const missing = targets(topic).all.filter((target) => !own.some((each) => each.target === target));
      return missing.map((target) => ({ groupId, topic, topicId, target }));
    });
  }

  async #store(client: PoolClient, tables: readonly FilledTable[]): Promise<void> {
    await client.query(
      `INSERT INTO ${this.#table} (group_id, topic, topic_id, target)
       SELECT $1, topic, topic_id, target FROM unnest($2::text[], $3::text[], $4::text[]) AS filled (topic, topic_id, target)`,
      [
        this.#filler.groupId,
        tables.map(({ topic }) => topic),
        tables.map(({ topicId }) => topicId),
        tables.map(({ target }) => target),
      ],
    );
  }

  /** Tables of the user's own that this group fills from a topic without its consent to other groups. */
  #unshared(topic: string): readonly string[] {
    const { all, shared } = this.#filler.targets(topic);
    return all.filter((target) => target !== RECORDS.table && !shared.has(target));
  }

  #met(known: readonly FilledTable[], ids: ReadonlyMap<string, string>): readonly SharedTable[] {
    const unshared = new Map([...ids.keys()].map((topic) => [topic, this.#unshared(topic)]));
    return known
      .filter(({ groupId, topic, target }) => groupId !== this.#filler.groupId && unshared.get(topic)?.includes(target))
      .map(({ target, topic, groupId }) => ({ table: target, topic, groupId }));
  }

  /**
   * Other groups with offsets of the topic whose tables are not known; none where this group fills no user's table
   * alone.
   */
  async #unknownGroups(
    client: PoolClient,
    known: readonly FilledTable[],
    topic: string,
    topicId: string,
  ): Promise<readonly string[]> {
    if (this.#unshared(topic).length === 0) {
      return [];
    }
    const { rows } = await client.query<{ groupId: string; topicId: string }>(
      `SELECT DISTINCT group_id AS "groupId", coalesce(topic_id, '') AS "topicId" FROM ${this.#offsets}
        WHERE topic = $1 AND group_id <> $2 ORDER BY 1`,
      [topic, this.#filler.groupId],
    );
    const groups = rows.filter((row) => isSameId(row.topicId, topicId)).map(({ groupId }) => groupId);
    return [...new Set(groups)].filter((group) => !known.some(({ groupId }) => groupId === group));
  }

  #report(met: readonly SharedTable[]): void {
    const news = met.filter((table) => !this.#reported.has(JSON.stringify(table)));
    for (const table of news) {
      this.#reported.add(JSON.stringify(table));
    }
    if (news.length > 0) {
      this.#filler.onShared(news);
    }
  }

  #refusal(topic: string, met: readonly SharedTable[], unknown: readonly string[]): FatalError {
    const { groupId } = this.#filler;
    const others = [...new Set([...met.map((each) => each.groupId), ...unknown])];
    const reasons = [
      ...met.map((each) => `group ${each.groupId} fills the table ${each.table} from it already`),
      ...unknown.map(
        (group) =>
          `group ${group} has stored offsets of it and has not run with this version yet, so it may fill ` +
          `${this.#unshared(topic).join(' or ')}, which is known once a consumer of group ${group} has started`,
      ),
    ];
    return new FatalError(
      'GROUP_MEETS_ANOTHER',
      `group ${groupId} has no stored offset of the topic ${topic}, and ${reasons.join('; ')}. A second group would write ` +
        'each record a second time, and older states over newer ones in a table with a key. Nothing was read or written. ' +
        `If group ${groupId} is to take the place of ${others.join(', ')}, set kafka.groupId to that name. If both are to fill ` +
        `the table, set tables[].sharedWithGroups: true for group ${groupId}. If the other group is gone for good, and its ` +
        `rows in the table as well, or if it never filled that table, delete its rows of this topic from ${this.#table} and ${this.#offsets}. Else fill another ` +
        'table. Then start again',
      { topic },
    );
  }
}
