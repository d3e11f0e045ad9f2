import { PRODUCT_NAME } from '../../../../contract/identity.ts';
import type { Problem } from '../../../../settings/schema/problem.ts';
import type { NamedTopics } from '../../../../settings/sections/tables/tables-of-topics.ts';
import type { Settings } from '../../../../settings/settings.ts';
import type { ReadEntry, TableEntry } from '../../../tables/mapping/read-mappings.ts';
import type { CheckedMapping } from '../../../tables/mapping/resolve-mapping.ts';

/** An entry of the setting, and what the catalog has for it. */
export interface ComparedEntry extends ReadEntry {
  readonly entry: TableEntry;
}

/** What is known of the tables. */
export interface ComparedTables extends Required<Pick<NamedTopics<Settings>, 'waiting' | 'isTemplated'>> {
  readonly entries: readonly ComparedEntry[];
}

/** Verdicts about a table, with the words for one and for several of them. */
const VERDICTS = {
  fits: ['fits', 'fit'],
  warned: ['fits, with a warning', 'fit, with a warning'],
  unfit: ['does not fit', 'do not fit'],
  missing: ['is not there', 'are not there'],
  unwanted: ['is not there, and missing: ignore asks for none', 'are not there, and missing: ignore asks for none'],
} as const satisfies Readonly<Record<string, readonly [one: string, several: string]>>;

type TableVerdict = keyof typeof VERDICTS;

const UNCLEAR = 'waits: the settings do not say enough of it';

/** Whether nobody wants the table, which is not there. */
export const isUnwanted = ({ entry, isThere }: ComparedEntry): boolean =>
  !isThere && entry.isUnwantedWhileMissing === true;

/** A table that a template asks for is only missing: nobody has written its name. */
const isOnlyMissing = ({ entry, isThere }: ComparedEntry, { isTemplated }: ComparedTables): boolean =>
  !isThere && entry.topics.every(isTemplated);

const titleOf = ({ topics, schema, table }: TableEntry): string => `${topics.join(', ')} -> ${schema}.${table}`;

/** The line about a table that nobody wants. */
export const unwantedLine = ({ entry }: ComparedEntry): string => `${titleOf(entry)}: ${VERDICTS.unwanted[0]}`;

function verdictOf(compared: ComparedEntry, tables: ComparedTables, warnings: readonly string[]): TableVerdict {
  if (compared.mapping !== null) {
    return warnings.length === 0 ? 'fits' : 'warned';
  }
  return isUnwanted(compared) ? 'unwanted' : isOnlyMissing(compared, tables) ? 'missing' : 'unfit';
}

function verdictCounts(verdicts: readonly TableVerdict[], unclear: number): readonly string[] {
  const counts = Object.entries(VERDICTS).flatMap(([verdict, [one, several]]) => {
    const count = verdicts.filter((each) => each === verdict).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : several}`];
  });
  const waiting = unclear === 0 ? [] : [`${unclear} ${unclear === 1 ? 'topic waits' : 'topics wait'}`];
  const isMissing = verdicts.includes('missing');
  return [
    `${verdicts.length} tables: ${[...counts, ...waiting].join('; ')}`,
    `${PRODUCT_NAME} tables check --table NAME prints all about one of them`,
    ...(isMissing ? [`${PRODUCT_NAME} tables ddl prints the CREATE TABLE of each that is not there`] : []),
  ];
}

/** Many tables for a person. */
interface ListedTables {
  readonly text: string;
  /** Of which the lines say only that they are there. */
  readonly problems: readonly Problem[];
  /** How many tables of a template are missing, which their lines say all of. */
  readonly missing: number;
}

/**
 * Lists many tables: a line each, what is to look at below it, and how many there are of each verdict.
 *
 * @param warningsOf what somebody should look at of a table that fits
 */
export function tableList(
  tables: ComparedTables,
  warningsOf: (mapping: CheckedMapping) => readonly string[],
): ListedTables {
  const judged = tables.entries.map((compared) => {
    const warnings = compared.mapping === null ? [] : warningsOf(compared.mapping);
    return { compared, warnings, verdict: verdictOf(compared, tables, warnings) };
  });
  const lines = judged.flatMap(({ compared, warnings, verdict }) => [
    `${titleOf(compared.entry)}: ${VERDICTS[verdict][0]}`,
    ...warnings.map((line) => `  ${line}`),
  ]);
  const unclear = [...tables.waiting.keys()].map((topic) => `${topic}: ${UNCLEAR}`);
  const verdicts = judged.map(({ verdict }) => verdict);
  const unfit = judged.filter(({ verdict }) => verdict === 'unfit');
  return {
    text: [...lines, ...unclear, '', ...verdictCounts(verdicts, unclear.length)].join('\n'),
    problems: [...tables.waiting.values(), ...unfit.flatMap(({ compared }) => compared.problems)],
    missing: verdicts.filter((verdict) => verdict === 'missing').length,
  };
}
