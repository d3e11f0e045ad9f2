import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readLines } from './run/log-lines.ts';
import { RUN_FOLDER_PREFIX } from './run/recorded-processes.ts';
import { runFolderParent } from './run/run-folder.ts';
import { TROUBLE_SOCKET, type Trouble } from './start/trouble.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const SECONDS = { default: 15, most: 600 } as const;

const HELP = `Makes trouble for the npm start that runs in another terminal, and says what one then sees.

  npm run trouble -- records     produces 20 records that are no JSON
  npm run trouble -- postgres    stops PostgreSQL for a while and starts it again
  npm run trouble -- roll        replaces the consumer while orders come, as a rolling update does, twice

Options:
  --seconds N    how long PostgreSQL is stopped: 1 to ${SECONDS.most} (default: ${SECONDS.default}); Ctrl-C starts it sooner
  --process N    process of the npm start that is meant (default: of those of this user the one that began last)
  --help         this text

Exit codes: 0 done; 1 no npm start runs here; 2 wrong options.
`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { seconds: { type: 'string' }, process: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
    strict: false,
  });
  if (values['help'] === true) {
    process.stdout.write(HELP);
    return 0;
  }
  const trouble = readTrouble(positionals, String(values['seconds'] ?? SECONDS.default));
  if (trouble === undefined) {
    process.stderr.write(`"${args.join(' ')}" is no trouble that can be made.\n\n${HELP}`);
    return EXIT_USAGE;
  }
  const socket = await newestRun(String(values['process'] ?? ''));
  if (socket === undefined) {
    process.stderr.write('No npm start of this user runs here: begin with npm start in another terminal.\n');
    return EXIT_FAILED;
  }
  readLines(socket, (line) => process.stdout.write(`${line}\n`));
  socket.write(`${JSON.stringify(trouble)}\n`);
  await once(socket, 'close');
  return 0;
}

function readTrouble([kind, ...rest]: readonly string[], seconds: string): Trouble | undefined {
  if (rest.length > 0 || !/^\d{1,3}$/.test(seconds) || Number(seconds) < 1 || Number(seconds) > SECONDS.most) {
    return undefined;
  }
  if (kind === 'postgres') {
    return { kind, seconds: Number(seconds) };
  }
  if (kind === 'records') {
    return { kind };
  }
  return kind === 'roll' ? { kind } : undefined;
}

/**
 * A connection to the `npm start` that began last, of those that still run.
 *
 * @param owner its process id; the empty text for any
 */
async function newestRun(owner: string): Promise<Socket | undefined> {
  const parent = runFolderParent();
  const sockets = readdirSync(parent)
    .filter((name) => name.startsWith(owner === '' ? RUN_FOLDER_PREFIX : `${RUN_FOLDER_PREFIX}${owner}-`))
    .map((name) => join(parent, name, TROUBLE_SOCKET))
    .map((path) => ({ path, began: statSync(path, { throwIfNoEntry: false })?.birthtimeMs }))
    .filter(({ began }) => began !== undefined)
    .toSorted((a, b) => (b.began ?? 0) - (a.began ?? 0));
  for (const { path } of sockets) {
    const socket = connect(path);
    try {
      await once(socket, 'connect');
      return socket;
    } catch {
      // A run that was killed leaves its socket behind.
    }
  }
  return undefined;
}
