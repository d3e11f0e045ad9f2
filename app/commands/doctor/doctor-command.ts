import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { FILE_RULES } from '../../credentials/tls-files.ts';
import { SCHEMA_FILE_RULES } from '../../formats/schema-files.ts';
import { MOST_IN_FULL, TABLE } from '../command/asked-table.ts';
import { action, type Command, everywhereHelp, exitCodesHelp } from '../command/command.ts';
import type { DoctorRequest } from './run-doctor.ts';

const doctorHelp = (): string =>
  `Usage: ${PRODUCT_NAME} doctor [--table NAME] [--json] [--ignore-outages]

Looks at all that the consumer needs, at once, and prints a line for each. It asks Kafka for the brokers, the login, each
topic, the right to read it, the group and the topic for dead letters. It asks PostgreSQL for the consumer's own tables,
each privilege on them, and your tables. It tries the schema registry and the management port. A line is OK, or it has what
is wrong, with the statement, the command or the setting that mends it. Of more than ${MOST_IN_FULL} topics or tables those that are OK
have one line together. It reads no record, joins no group and writes nothing.

Options:
  --table NAME        only what one table needs: the table, its topics and the servers
  --json              one JSON object per line and finding
  --ignore-outages    exit with 0 where something is only away: for an init container, which must not wait for it
${everywhereHelp('says what to look at')} Run it as the consumer's role and user,
where the consumer runs: privileges and the network are part of what it looks at.

${exitCodesHelp({
  ok: 'all is well, perhaps with warnings',
  failed: 'nothing is wrong, and something is away: the consumer would wait for it',
  configuration: 'something is wrong, whatever else is away, or the command line or the configuration is',
})}
  130 interrupted by Ctrl-C (143 by SIGTERM): nothing is printed
`;

/** The command `doctor`. A signal ends it at once, with its connections: it writes nothing. */
export const DOCTOR_COMMAND: Command = {
  name: 'doctor',
  usage: '[--table NAME] [--json] [--ignore-outages]',
  help: doctorHelp,
  options: { table: TABLE, json: { type: 'boolean' }, 'ignore-outages': { type: 'boolean' } },
  fileRules: [...FILE_RULES, ...SCHEMA_FILE_RULES],
  actions: [
    action<DoctorRequest>({
      word: '',
      read: (_, given) => ({
        request: {
          table: given.get('table')?.at(-1),
          json: given.has('json'),
          ignoresOutages: given.has('ignore-outages'),
        },
        problems: [],
      }),
      run: async (settings, request, process) => {
        const signal = process.interruption();
        const { runDoctor } = await import('./run-doctor.ts');
        return runDoctor(settings, request, process, signal);
      },
    }),
  ],
};
