import { DEAD_LETTER_REASON } from '../../contract/dead-letter-reasons.ts';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import { EXIT_CODE } from '../exit-code.ts';
import { LISTED_BY_DEFAULT } from './dead-letters-line.ts';

/** What `dead-letters --help` prints. */
export function deadLettersHelp(): string {
  const reasons = Object.entries(DEAD_LETTER_REASON).map(([reason, text]) => `  ${reason.padEnd(24)}${text}`);
  return `Usage: ${PRODUCT_NAME} dead-letters list   [--reason REASON ...] [--topic TOPIC ...] [--limit N] [--show-value] [--json]
       ${PRODUCT_NAME} dead-letters replay [--reason REASON ...] [--topic TOPIC ...] [--limit N] [--dry-run] [--json]

list shows what is in the table dead_letters. replay moves the records that fit by now, because a limit was raised or a row
of the table was put right by hand, to records: each in a transaction of its own, exactly once, also beside a running
consumer and beside another replay. What still does not fit stays where it is, with the reason it has now.

Options:
  --reason REASON     only letters with this reason; may be given several times
  --topic TOPIC       only letters from this topic; may be given several times
  --limit N           look at N letters at most [list: ${LISTED_BY_DEFAULT}, replay: all]
  --show-value        list: show keys and values as well, which are left out otherwise
  --dry-run           replay: try everything and change nothing
  --json              one JSON object per line
  --config FILE       the consumer's configuration, which says where the database is
  --config-tree DIR   a folder of secret files
  -h, --help          print this and exit
  -V, --version       print the version and exit

Settings come from the same places as the consumer's: see ${PRODUCT_NAME} --help. Kafka is not asked.

Reasons, each for "this record is a dead letter because ...":
${reasons.join('\n')}

Exit codes:
  ${String(EXIT_CODE.ok).padEnd(4)}list: all was shown; replay: every letter that was looked at was moved, or there was none
  ${String(EXIT_CODE.failed).padEnd(4)}replay: some letters stayed, each with a line that says why; or PostgreSQL was away or refused
  ${String(EXIT_CODE.configuration).padEnd(4)}the command line or the configuration is wrong; nothing was started
  130 interrupted by Ctrl-C (143 by SIGTERM): the letter in hand was finished, what was moved stays moved
`;
}
