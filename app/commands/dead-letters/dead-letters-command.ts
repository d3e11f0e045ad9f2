import { readFileSync } from 'node:fs';
import { isNativeError } from 'node:util/types';
import { DEAD_LETTER_REASON, DEAD_LETTER_REASONS, isDeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
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
import type { LetterPlace, ListRequest, SelectingRequest } from './dead-letters-table.ts';
import type { DiscardRequest, ShowRequest } from './one-letter.ts';

/** The default of `--limit` for `list`; `replay` takes all dead letters. */
const LISTED_BY_DEFAULT = 100;

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
    check: (values) => values.filter((each) => !isDeadLetterReason(each)).map(wrongReason),
  },
  topic: { type: 'string', value: 'TOPIC' },
  limit: { type: 'string', value: 'N', check: wrongLimit },
};

const PLACE = /^([^/]+)\/(\d{1,10})\/(\d{1,19})$/;
const LARGEST_PARTITION = 2_147_483_647;
const LARGEST_OFFSET = 9_223_372_036_854_775_807n;

/** A letter's place: topic, partition and offset. @returns `null` for any other text */
function placeOf(word: string, groupId: string | undefined): LetterPlace | null {
  const [, topic, partition, offset] = PLACE.exec(word) ?? [];
  if (topic === undefined || Number(partition) > LARGEST_PARTITION || BigInt(offset ?? 0) > LARGEST_OFFSET) {
    return null;
  }
  const place = { topic, partition: Number(partition), offset: BigInt(offset ?? 0) };
  return { ...place, ...(groupId !== undefined && { groupId }) };
}

/** Reads the one place of an action. */
function readPlace(
  command: string,
  [word, ...others]: readonly string[],
  given: GivenOptions,
): { readonly place?: LetterPlace; readonly problems: readonly Problem[] } {
  const path = `the command ${command}`;
  const allowed = 'TOPIC/PARTITION/OFFSET, such as orders/1/5, which list shows';
  if (word === undefined) {
    return { problems: [{ path, message: 'needs the place of a dead letter', allowed }] };
  }
  const place = placeOf(word, given.get('group')?.at(-1));
  return place === null
    ? { problems: [{ path, message: 'takes the place of a dead letter', given: shownText(word), allowed }] }
    : { place, problems: surplusWords(command, others, { message: 'takes one dead letter', allowed }) };
}

const OF_PLACE: Options = { group: { type: 'string', value: 'GROUP' } };

function selecting(given: GivenOptions): SelectingRequest {
  const limit = given.get('limit')?.at(-1);
  return {
    filter: { reasons: (given.get('reason') ?? []).filter(isDeadLetterReason), topics: given.get('topic') ?? [] },
    limit: limit === undefined ? undefined : Number(limit),
    json: given.has('json'),
  };
}

const OPTIONS_ONLY = { message: 'takes options only', allowed: '--help lists them' };

const LIST = action<ListRequest>({
  word: 'list',
  options: { ...SELECTING, 'show-value': { type: 'boolean' } },
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

const SHOW = action<ShowRequest>({
  word: 'show',
  options: OF_PLACE,
  read: (words, given) => {
    const { place, problems } = readPlace('dead-letters show', words, given);
    return { problems, ...(place && { request: { place, json: given.has('json') } }) };
  },
  run: async (settings, request, process) => {
    const { showLetter } = await import('./run-dead-letters.ts');
    return showLetter(settings, request, process);
  },
});

const NO_REASON: Problem = {
  path: '--because',
  message: 'is missing: a letter is discarded for a reason, which is stored with it',
  allowed: 'a text, such as --because "test data, agreed with the producer"',
};

const DISCARD = action<DiscardRequest>({
  word: 'discard',
  options: { ...OF_PLACE, because: { type: 'string', value: 'TEXT' } },
  read: (words, given) => {
    const { place, problems } = readPlace('dead-letters discard', words, given);
    const because = given.get('because')?.at(-1)?.trim() ?? '';
    return because === ''
      ? { problems: [...problems, NO_REASON] }
      : { problems, ...(place && { request: { place, json: given.has('json'), because } }) };
  },
  run: async (settings, request, process) => {
    const { discardOne } = await import('./run-dead-letters.ts');
    return discardOne(settings, request, process);
  },
});

/** The file of `--value`; `-` is standard input. */
function readValue(file: string): Buffer | Problem {
  try {
    return readFileSync(file === '-' ? process.stdin.fd : file);
  } catch (error) {
    const why = isNativeError(error) && 'code' in error ? ` (${String(error.code)})` : '';
    const allowed = 'a file with the value as bytes, or - for standard input';
    return { path: '--value', message: `cannot be read${why}`, given: shownText(file), allowed };
  }
}

const OF_SELECTION = Object.keys(SELECTING);

/** One letter by its place, or those that options select. */
function readReplay(words: readonly string[], given: GivenOptions) {
  const options = { ...selecting(given), dryRun: given.has('dry-run'), overwrite: given.has('overwrite') };
  const file = given.get('value')?.at(-1);
  if (words.length === 0) {
    const allowed = 'with the place of the letter: dead-letters replay orders/1/5';
    const alone = ['value', 'group'].filter((name) => given.has(name));
    const problems = alone.map((name) => ({ path: `--${name}`, message: 'is for one dead letter', allowed }));
    return { request: options, problems };
  }
  const { place, problems } = readPlace('dead-letters replay', words, given);
  const others = OF_SELECTION.filter((name) => given.has(name)).map((name) => ({
    path: `--${name}`,
    message: 'selects letters, and a place names one',
    allowed: 'one of the two',
  }));
  const value = file === undefined ? undefined : readValue(file);
  const unread = value === undefined || Buffer.isBuffer(value) ? [] : [value];
  const ofValue = Buffer.isBuffer(value) ? { value } : {};
  const request = place && { ...options, filter: { reasons: [], topics: [], place }, ...ofValue };
  return { problems: [...problems, ...others, ...unread], ...(request && { request }) };
}

const REPLAY = action<ReplayRequest>({
  word: 'replay',
  options: {
    ...SELECTING,
    ...OF_PLACE,
    'dry-run': { type: 'boolean' },
    overwrite: { type: 'boolean' },
    value: { type: 'string', value: 'FILE' },
  },
  read: readReplay,
  run: async (settings, request, process) => {
    const signal = process.interruption();
    const { replayLetters } = await import('./run-dead-letters.ts');
    return replayLetters(settings, request, process, signal);
  },
});

const reasonLines = (): readonly string[] =>
  Object.entries(DEAD_LETTER_REASON).map(([reason, text]) => `  ${reason.padEnd(24)}${text}`);

const deadLettersHelp = (): string =>
  `Usage: ${PRODUCT_NAME} dead-letters list    [--reason REASON ...] [--topic TOPIC ...] [--limit N] [--show-value] [--json]
       ${PRODUCT_NAME} dead-letters show    TOPIC/PARTITION/OFFSET [--group GROUP] [--json]
       ${PRODUCT_NAME} dead-letters replay  [--reason REASON ...] [--topic TOPIC ...] [--limit N] [--dry-run] [--overwrite] [--json]
       ${PRODUCT_NAME} dead-letters replay  TOPIC/PARTITION/OFFSET [--value FILE] [--group GROUP] [--dry-run] [--overwrite] [--json]
       ${PRODUCT_NAME} dead-letters discard TOPIC/PARTITION/OFFSET --because TEXT [--group GROUP] [--json]

list shows what is in the table dead_letters, and show all of one letter, its record included. replay moves the records that
fit by now, because a limit was raised or the value was mended, to their tables: one transaction for each, exactly once, also
beside a running consumer and beside another replay. What still does not fit stays where it is, with the reason it has now.

discard moves a letter that nobody needs to the table discarded_letters, with its record, the text of --because, the role and
the time. No command brings it back, and nothing deletes it.

Into a table with a key a letter goes only where no row has its key, and a letter that deletes goes nowhere while one has:
newer records may have been applied since. --overwrite replaces and deletes such rows. Either way replay cannot know of a
row that a newer record has deleted: the letter's record is inserted again.

Options:
  --reason REASON     only letters with this reason; may be given several times
  --topic TOPIC       only letters from this topic; may be given several times
  --limit N           look at N letters at most [list: ${LISTED_BY_DEFAULT}, replay: all]
  --group GROUP       of one place: the letter of this group [the only group that has one]
  --show-value        list: show keys and values as well, which are left out otherwise
  --value FILE        replay of one place: the value that the record should have had, as bytes; - is standard input. Where it is
                      refused, the letter stays as it is
  --dry-run           replay: try everything and change nothing
  --overwrite         replay: replace and delete rows of the letters' keys in tables with a key
  --because TEXT      discard: why nobody needs the record
  --json              one JSON object per line, with the record's timestamp and headers
${everywhereHelp('says where the database is')} Kafka is not asked.

Reasons, each for "this record is a dead letter because ...":
${reasonLines().join('\n')}

${exitCodesHelp({
  ok: `list, show: all was shown; replay: every letter that was looked at was moved, or there was none; discard: it was
      discarded`,
  failed: `replay: some letters stayed, each with a line that says why; a place has no letter, or another transaction holds it;
      or PostgreSQL was away or refused`,
  configuration: 'the command line or the configuration is wrong; nothing was started',
})}
  130 interrupted by Ctrl-C (143 by SIGTERM): the letter in hand was finished, what was moved stays moved
`;

/** The command `dead-letters`. A signal ends it in order: after the current transaction or page. */
export const DEAD_LETTERS_COMMAND: Command = {
  name: 'dead-letters',
  usage: 'list|show|replay|discard [PLACE] [OPTIONS]',
  help: deadLettersHelp,
  options: { json: { type: 'boolean' } },
  fileRules: [...DATABASE_FILE_RULES, ...SCHEMA_FILE_RULES],
  actions: [LIST, SHOW, REPLAY, DISCARD],
};
