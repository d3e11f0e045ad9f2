import { FILE_RULES } from '../../credentials/tls-files.ts';
import { action, type Command } from '../command/command.ts';

/** The command `migrate`. A signal ends it at once, and PostgreSQL takes back what was not committed. */
export const MIGRATE_COMMAND: Command = {
  name: 'migrate',
  usage: '[--config FILE] [--config-tree DIR]',
  options: {},
  fileRules: FILE_RULES,
  actions: [
    action<object>({
      word: '',
      read: () => ({ request: {}, problems: [] }),
      run: async ({ database }, _, process) => {
        const { runMigrate } = await import('./run-migrate.ts');
        return runMigrate(database, process);
      },
    }),
  ],
};
