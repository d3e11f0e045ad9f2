import { PRODUCT_NAME } from '../../../contract/identity.ts';
import type { Problem } from '../../../settings/schema/problem.ts';
import { settingsOfTopics } from '../../../settings/sections/tables/tables-of-topics.ts';
import { DATABASE_FILE_RULES } from '../../credentials/tls-files.ts';
import {
  action,
  type Command,
  everywhereHelp,
  exitCodesHelp,
  type GivenOptions,
  surplusWords,
} from '../command/command.ts';
import type { AcceptTopicRequest, BeginAgainRequest } from './run-offsets.ts';

/** Reads the one topic of an action. */
function readTopic(
  word: string,
  [topic = '', ...others]: readonly string[],
  given: GivenOptions,
): { readonly request?: AcceptTopicRequest; readonly problems: readonly Problem[] } {
  const [command, allowed] = [`offsets ${word}`, `offsets ${word} TOPIC`];
  return topic === ''
    ? { problems: [{ path: `the command ${command}`, message: 'needs a topic', allowed }] }
    : {
        request: { topic, dryRun: given.has('dry-run') },
        problems: surplusWords(command, others, { message: 'takes one topic', allowed }),
      };
}

const ACCEPT_TOPIC = action<AcceptTopicRequest>({
  word: 'accept-topic',
  read: (words, given) => readTopic('accept-topic', words, given),
  run: async (settings, request, process) => {
    const { acceptTopic } = await import('./run-offsets.ts');
    return acceptTopic(settingsOfTopics(settings, [request.topic]).settings, request, process);
  },
});

const BEGIN_AGAIN = action<BeginAgainRequest>({
  word: 'begin-again',
  options: { 'rename-rows': { type: 'boolean' }, 'keep-table-rows': { type: 'boolean' } },
  read: (words, given) => {
    const { request, problems } = readTopic('begin-again', words, given);
    const consents = { renameRows: given.has('rename-rows'), keepTableRows: given.has('keep-table-rows') };
    return request === undefined ? { problems } : { request: { ...request, ...consents }, problems };
  },
  run: async (settings, request, process) => {
    const { beginAgain } = await import('./run-offsets.ts');
    return beginAgain(settingsOfTopics(settings, [request.topic]).settings, request, process);
  },
});

const offsetsHelp = (): string =>
  `Usage: ${PRODUCT_NAME} offsets accept-topic TOPIC [--dry-run]
       ${PRODUCT_NAME} offsets begin-again TOPIC [--rename-rows] [--keep-table-rows] [--dry-run]

A topic that was deleted and created again, mirrored or restored has another id than the one stored with its offsets, and the
consumer stops rather than take it for the same topic. Only you know which command is right:

  accept-topic    it holds the same records at the same offsets, as a restored cluster does: go on at the stored offsets.
                  Where it holds others, those below the stored offsets are never read
  begin-again     it holds other records: read it from offset 0. The rows of the topic before, in records, dead_letters,
                  discarded_letters and gaps, have the same places: while there are any it is refused, unless --rename-rows keeps
                  them under another name.
                  Rows of your own tables stay as they are, and tables without a key get the topic a second time: where the
                  topic fills such tables it is refused, unless --keep-table-rows consents

Both are one transaction, and change the offsets of kafka.groupId alone. The topic id that the next consumer finds is stored.
A consumer may run beside them: its next transaction is turned away, and it goes on where they say. Kafka is not asked.

Options:
  --rename-rows       begin-again: give the rows that the topic has the topic TOPIC@TIME, which no topic in Kafka can be called
  --keep-table-rows   begin-again: leave the rows of your own tables as they are, and fill these tables with the topic again
  --dry-run           say what would be done, and change nothing
${everywhereHelp('says where the database is')} --rename-rows needs the right to UPDATE the
tables, which their owner has (docs/database-roles.md).

${exitCodesHelp({
  ok: 'it was done, or there was nothing to do',
  failed: `it was refused and nothing was changed: no offset of the topic is stored, rows are in the way, a consent is missing, or
      PostgreSQL was away`,
  configuration: 'the command line or the configuration is wrong; nothing was started',
})}
`;

/** The command `offsets`. A signal ends it at once, and PostgreSQL takes back what was not committed. */
export const OFFSETS_COMMAND: Command = {
  name: 'offsets',
  usage: 'accept-topic|begin-again TOPIC [OPTIONS]',
  help: offsetsHelp,
  options: { 'dry-run': { type: 'boolean' } },
  fileRules: DATABASE_FILE_RULES,
  actions: [ACCEPT_TOPIC, BEGIN_AGAIN],
};
