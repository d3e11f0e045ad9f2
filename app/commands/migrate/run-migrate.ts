import { EXIT_CODE } from '../../../contract/exit-code.ts';
import type { Settings } from '../../../settings/settings.ts';
import { migrate, unknownVersions } from '../../store/tables/migrations.ts';
import { OwnTables } from '../../store/tables/own-tables.ts';
import type { OutputStreams } from '../command/command.ts';
import { withDatabase } from '../command/with-database.ts';

/**
 * Runs `migrate`: creates or upgrades the tables, prints the result, and ends. Several at once do no harm.
 *
 * @returns the exit code: 0 when the tables are as this version wants them, 1 when PostgreSQL was away or refused. It
 * rejects only for a mistake in the program.
 */
export function runMigrate(database: Settings['database'], { out, err }: OutputStreams): Promise<number> {
  const { schema } = database;
  return withDatabase('migrate', database, { err }, async (pool) => {
    const versions = await pool.withClient(async (client) => {
      const applied = await migrate(client, schema);
      await new OwnTables(schema).require(client);
      return applied;
    });
    const what = versions.length === 0 ? 'is up to date' : `was brought to version ${versions.at(-1)}`;
    out.write(`the schema "${schema}" ${what}\n`);
    const unknown = await pool.withClient((client) => unknownVersions(client, schema));
    if (unknown.length > 0) {
      out.write(`it is newer than this program, which does not know ${unknown.join(', ')} and left that as it is\n`);
    }
    return EXIT_CODE.ok;
  });
}
