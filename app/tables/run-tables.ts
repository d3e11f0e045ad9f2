import type { Writable } from 'node:stream';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import { describeProblem, type Problem } from '../../settings/problem.ts';
import type { Settings } from '../../settings/settings.ts';
import { tablesOf } from '../../settings/tables.ts';
import { EXIT_CODE } from '../exit-code.ts';
import { DatabasePool } from '../store/database-pool.ts';
import { FatalError, OutageError } from '../stream/stream-errors.ts';
import { readMappings } from './resolve-mapping.ts';
import { mappingJson, mappingLines } from './shown-mapping.ts';
import type { TablesRequest } from './tables-request.ts';

const NO_TABLE = 'the setting tables is empty: all records go into the table records';

/** All of them, unlike those of the settings: each table is put right by another statement. */
function refusal(problems: readonly Problem[]): string {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return `The tables do not fit the setting tables: ${count}; nothing was written.\n\n${problems.map(describeProblem).join('\n')}\n`;
}

/**
 * Runs `tables check`: compares the setting `tables` with the catalog, prints the mapping of each table that is right,
 * and all problems of the others. Nothing is written, and Kafka is not asked.
 *
 * @returns the exit code: 0 when all tables are right, 78 when one is not, 1 when PostgreSQL was away or refused. It
 * rejects only for a mistake in the program.
 */
export async function runTables(
  settings: Settings,
  { action, json }: TablesRequest,
  out: Writable,
  err: Writable,
): Promise<number> {
  const { database } = settings;
  const tables = tablesOf(settings);
  const pool = new DatabasePool({ ...database, poolSize: 1 }, () => undefined, {
    warn: (warning) => err.write(`warning: ${warning}\n`),
  });
  try {
    const { mappings, problems } = await pool.withClient((client) => readMappings(client, tables, database.schema));
    const shown = mappings.map((mapping) => (json ? mappingJson(mapping) : mappingLines(mapping).join('\n')));
    const text = (tables.length > 0 || json ? shown : [NO_TABLE]).join(json ? '\n' : '\n\n');
    out.write(text === '' ? '' : `${text}\n`);
    err.write(problems.length === 0 ? '' : refusal(problems));
    return problems.length === 0 ? EXIT_CODE.ok : EXIT_CODE.configuration;
  } catch (error) {
    if (!(error instanceof OutageError || error instanceof FatalError)) {
      throw error;
    }
    err.write(`${PRODUCT_NAME} tables ${action}: ${error.message}\n`);
    return EXIT_CODE.failed;
  } finally {
    await pool.close();
  }
}
