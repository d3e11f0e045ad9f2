import type { Command } from './command/command.ts';
import { DEAD_LETTERS_COMMAND } from './dead-letters/dead-letters-command.ts';
import { DOCTOR_COMMAND } from './doctor/doctor-command.ts';
import { MIGRATE_COMMAND } from './migrate/migrate-command.ts';
import { OFFSETS_COMMAND } from './offsets/offsets-command.ts';
import { TABLES_COMMAND } from './tables/tables-command.ts';

/** All commands, in the order of `--help`; a command line without one of them starts the consumer. */
export const COMMANDS: readonly Command[] = [
  MIGRATE_COMMAND,
  DEAD_LETTERS_COMMAND,
  OFFSETS_COMMAND,
  TABLES_COMMAND,
  DOCTOR_COMMAND,
];
