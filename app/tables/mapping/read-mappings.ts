import { isDeepStrictEqual } from 'node:util';
import type { PoolClient } from 'pg';
import type { Problem } from '../../../settings/schema/problem.ts';
import type { TableSettings } from '../../../settings/sections/tables.ts';
import { type CheckedMapping, resolveMapping } from './resolve-mapping.ts';
import { readCatalog } from './table-catalog.ts';
import { foreignKeyProblems } from './table-problems.ts';

/** An entry of the setting `tables`. */
export interface TableEntry extends TableSettings {
  /** Its place in the settings, such as `tables[0]`. @default its place in the list */
  readonly path?: string;
}

/** What an entry comes to: a mapping, or the problems that it has. */
export interface ReadEntry {
  readonly mapping: CheckedMapping | null;
  readonly problems: readonly Problem[];
  /** Whether there is a table of this name. */
  readonly isThere: boolean;
}

/** What the settings' tables come to: the mappings of the right ones, and the problems of the others. */
export interface Mappings {
  readonly mappings: readonly CheckedMapping[];
  readonly problems: readonly Problem[];
  /** Of each of the entries, in their order. */
  readonly entries: readonly ReadEntry[];
}

async function readOnce(
  ...[client, tables, ownSchema, isTemplated = () => false]: Parameters<typeof readMappings>
): Promise<Mappings> {
  const found = await readCatalog(client, tables, ownSchema);
  const entries = tables.flatMap((entry, nth): readonly ReadEntry[] => {
    const answer = found[nth];
    if (answer === undefined) {
      return [];
    }
    const path = entry.path ?? `tables[${nth}]`;
    const { mapping, problems } = resolveMapping(entry, answer, path);
    const all = entry.topics.some(isTemplated) ? [...problems, ...foreignKeyProblems(answer, path)] : problems;
    return [{ mapping: all.length > 0 ? null : mapping, problems: all, isThere: answer.relation !== null }];
  });
  return {
    mappings: entries.flatMap(({ mapping }) => mapping ?? []),
    problems: entries.flatMap(({ problems }) => problems),
    entries,
  };
}

/**
 * The mappings of the settings' tables as the catalog has them now.
 *
 * A query reads the catalog's tables as they were when it began, but PostgreSQL's functions answer by what was
 * committed since. A column that is dropped in between looks like one that the role may not write. So problems count
 * once two reads in a row agree on them. A mapping needs no second read: its fingerprint is that of the older state,
 * and the guard of the next transaction refuses it.
 *
 * @param tables in the order of the settings: problems name their places
 * @param ownSchema `database.schema`, whose tables of this program are refused
 * @param isTemplated whether a template takes a topic, so that its table may have no foreign key. @default none does
 * @returns the mappings of the entries that are right, and all problems of the others
 */
export async function readMappings(
  client: Pick<PoolClient, 'query'>,
  tables: readonly TableEntry[],
  ownSchema: string,
  isTemplated?: (topic: string) => boolean,
): Promise<Mappings> {
  let last = await readOnce(client, tables, ownSchema, isTemplated);
  while (last.problems.length > 0) {
    const before = last.problems;
    last = await readOnce(client, tables, ownSchema, isTemplated);
    if (isDeepStrictEqual(last.problems, before)) {
      break;
    }
  }
  return last;
}
