import {
  DEAD_LETTER_REASON,
  DEAD_LETTER_REASONS,
  type DeadLetterReason,
} from '../../../contract/dead-letter-reasons.ts';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { nearestKey, type Problem } from '../../../settings/schema/problem.ts';
import { shownText } from '../../../settings/schema/shown-value.ts';
import { DATABASE_FILE_RULES } from '../../credentials/tls-files.ts';
import { SCHEMA_FILE_RULES } from '../../formats/schema-files.ts';
import {
  action,
  type Command,
  everywhereHelp,
  exitCodesHelp,
  type GivenOptions,
  type Options,
  surplusWords,
} from '../command/command.ts';
import type { ReplayRequest } from './dead-letters-replay.ts';
import type { ListRequest, SelectingRequest } from './dead-letters-table.ts';

/** The default of `--limit` for `list`; `replay` takes all dead letters. */
const LISTED_BY_DEFAULT = 100;

const isReason = (word: string): word is DeadLetterReason => DEAD_LETTER_REASONS.some((reason) => reason === word);

function wrongReason(written: string): Problem {
  const nearest = nearestKey(written, DEAD_LETTER_REASONS);
  const given = shownText(written, DEAD_LETTER_REASONS);
  const allowed = `one of ${DEAD_LETTER_REASONS.join(', ')}`;
  return { path: '--reason', message: 'is none of the reasons', given, allowed, ...(nearest && { nearest }) };
}

/** @param values of which the last one counts */
function wrongLimit(values: readonly string[]): readonly Problem[] {
  const limit = values.at(-1);
  const isRight = limit === undefined || /^[1-9]\d{0,14}$/.test(limit);
  const problem = { path: '--limit', message: 'is no number of letters', allowed: 'a whole number from 1' };
  return isRight ? [] : [{ ...problem, given: shownText(limit) }];
}

const SELECTING: Options = {
  reason: {
    type: 'string',
    value: 'REASON',
    check: (values) => values.filter((each) => !isReason(each)).map(wrongReason),
  },
  topic: { type: 'string', value: 'TOPIC' },
  limit: { type: 'string', value: 'N', check: wrongLimit },
  json: { type: 'boolean' },
};

function selecting(given: GivenOptions): SelectingRequest {
  const limit = given.get('limit')?.at(-1);
  return {
    filter: { reasons: (given.get('reason') ?? []).filter(isReason), topics: given.get('topic') ?? [] },
    limit: limit === undefined ? undefined : Number(limit),
    json: given.has('json'),
  };
}

const OPTIONS_ONLY = { message: 'takes options only', allowed: '--help lists them' };

const LIST = action<ListRequest>({
  word: 'list',
  options: { 'show-value': { type: 'boolean' } },
  read: (words, given) => {
    const { limit = LISTED_BY_DEFAULT, ...others } = selecting(given);
    return {
      request: { ...others, limit, showValue: given.has('show-value') },
      problems: surplusWords('dead-letters list', words, OPTIONS_ONLY),
    };
  },
  run: async (settings, request, process) => {
    const signal = process.interruption();
    const { listLetters } = await import('./run-dead-letters.ts');
    return listLetters(settings, request, process, signal);
  },
});

const REPLAY = action<ReplayRequest>({
  word: 'replay',
  options: { 'dry-run': { type: 'boolean' }, overwrite: { type: 'boolean' } },
  read: (words, given) => ({
    request: { ...selecting(given), dryRun: given.has('dry-run'), overwrite: given.has('overwrite') },
    problems: surplusWords('dead-letters replay', words, OPTIONS_ONLY),
  }),
  run: async (settings, request, process) => {
    const signal = process.interruption();
    const { replayLetters } = await import('./run-dead-letters.ts');
    return replayLetters(settings, request, process, signal);
  },
});

const reasonLines = (): readonly string[] =>
  Object.entries(DEAD_LETTER_REASON).map(([reason, text]) => `  ${reason.padEnd(24)}${text}`);

const deadLettersHelp = (): string =>
  `Usage: ${PRODUCT_NAME} dead-letters list   [--reason REASON ...] [--topic TOPIC ...] [--limit N] [--show-value] [--json]
       ${PRODUCT_NAME} dead-letters replay [--reason REASON ...] [--topic TOPIC ...] [--limit N] [--dry-run] [--overwrite] [--json]

list shows what is in the table dead_letters. replay moves the records that fit by now, because a limit was raised or a row
of the table was put right by hand, to their tables: one transaction for each, exactly once, also beside a running consumer
and beside another replay. What still does not fit stays where it is, with the reason it has now.

Into a table with a key a letter goes only where no row has its key, and a letter that deletes goes nowhere while one has:
newer records may have been applied since. --overwrite replaces and deletes such rows. Either way replay cannot know of a
row that a newer record has deleted: the letter's record is inserted again.

Options:
  --reason REASON     only letters with this reason; may be given several times
  --topic TOPIC       only letters from this topic; may be given several times
  --limit N           look at N letters at most [list: ${LISTED_BY_DEFAULT}, replay: all]
  --show-value        list: show keys and values as well, which are left out otherwise
  --dry-run           replay: try everything and change nothing
  --overwrite         replay: replace and delete rows of the letters' keys in tables with a key
  --json              one JSON object per line
${everywhereHelp('says where the database is')} Kafka is not asked.

Reasons, each for "this record is a dead letter because ...":
${reasonLines().join('\n')}

${exitCodesHelp({
  ok: 'list: all was shown; replay: every letter that was looked at was moved, or there was none',
  failed: 'replay: some letters stayed, each with a line that says why; or PostgreSQL was away or refused',
  configuration: 'the command line or the configuration is wrong; nothing was started',
})}
  130 interrupted by Ctrl-C (143 by SIGTERM): the letter in hand was finished, what was moved stays moved
`;

/** The command `dead-letters`. A signal ends it in order: after the current transaction or page. */
export const DEAD_LETTERS_COMMAND: Command = {
  name: 'dead-letters',
  usage: 'list|replay [OPTIONS]',
  help: deadLettersHelp,
  options: SELECTING,
  fileRules: [...DATABASE_FILE_RULES, ...SCHEMA_FILE_RULES],
  actions: [LIST, REPLAY],
};
