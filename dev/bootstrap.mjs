// Gets a fresh clone to the point where its own programs run: `node dev/bootstrap.mjs start|trouble|chaos|test|test:image|test:long|test:postgres-13|dashboards:preview [arguments]`.
// Runs before anything is installed, so it imports nothing but Node (nor does test-programs.mjs), and its syntax is what old Nodes understand.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureTestPrograms, untested } from './test-programs.mjs';

const REPOSITORY = dirname(dirname(fileURLToPath(import.meta.url)));
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const JEST = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];

/** What can be run; each gets the arguments that follow its name. */
const PROGRAMS = {
  start: (args) => runInThisProcess('start.ts', args),
  trouble: (args) => runInThisProcess('trouble.ts', args),
  chaos: (args) => runInThisProcess('chaos.ts', args),
  test: (args) => runTests([...JEST, ...args]),
  'test:image': (args) => runNode([...JEST, '--config', 'test/image/jest.config.mjs', ...args]),
  'test:postgres-13': (args) =>
    runTests([...JEST, '--selectProjects=integration', ...args], { STREAM_CONSUMER_TEST_POSTGRES: '13.23.0-beta.16' }),
  'test:long': (args) => runTests([...JEST, ...args], { STREAM_CONSUMER_LONG_TESTS: 'true' }),
  'dashboards:preview': (args) =>
    runNode(
      [
        ...JEST,
        '--selectProjects=integration',
        '--testPathPatterns=test/integration/(dashboard/dashboards|page/page)',
        ...args,
      ],
      {
        STREAM_CONSUMER_DASHBOARDS_PREVIEW: 'true',
      },
    ),
};

/** A failure with a message that says all: it is shown without a stack trace. */
class BootstrapError extends Error {}

main(process.argv[2], process.argv.slice(3)).catch((error) => {
  console.error(error instanceof BootstrapError ? error.message : error);
  process.exitCode = 1;
});

async function main(name, args) {
  const program = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
  if (program === undefined) {
    const allowed = Object.keys(PROGRAMS).join(', ');
    throw new BootstrapError(`There is no program "${name}": one of ${allowed} is. Use npm start, npm test.`);
  }
  checkNode();
  const reason = staleness();
  if (reason !== undefined) {
    await installPackages(reason);
  }
  await program(args);
}

function checkNode() {
  const wanted = readJson('package.json').engines.node;
  const [major, minor] = /(\d+)\.(\d+)/.exec(wanted).slice(1).map(Number);
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
  if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
    throw new BootstrapError(
      `Node.js ${process.versions.node} is too old: ${wanted} is needed. Install one from https://nodejs.org or your version manager.`,
    );
  }
}

/** Why the packages have to be installed; undefined when node_modules is what package-lock.json says. */
function staleness() {
  const hidden = join('node_modules', '.package-lock.json');
  if (!existsSync(join(REPOSITORY, hidden))) {
    return 'npm packages are not installed yet';
  }
  const installed = readJson(hidden).packages;
  for (const [path, locked] of Object.entries(readJson('package-lock.json').packages)) {
    const isOptional = locked.optional || locked.devOptional || locked.peer;
    const found = installed[path];
    if (path === '' || (isOptional && found === undefined)) {
      continue;
    }
    if (found?.version !== locked.version || (locked.integrity && found.integrity !== locked.integrity)) {
      return `npm packages are out of date (${path.replace(/^.*node_modules\//, '')})`;
    }
    if (!existsSync(join(REPOSITORY, path))) {
      return `npm packages are damaged (${path} is missing)`;
    }
  }
  return undefined;
}

async function installPackages(reason) {
  console.error(`${reason}: npm ci, about half a minute ...`);
  // Whatever NODE_ENV or a user's npmrc leave out: development needs all of it.
  const args = ['ci', '--include=dev', '--include=optional', '--include=peer', '--no-fund', '--no-audit'];
  // Standard output belongs to the program, which may print JSON there.
  const { code, signal, forwarded } = await run('npm', args, {}, ['ignore', process.stderr, process.stderr]);
  // npm turns a signal into an exit code that looks like a failure.
  if (forwarded || signal) {
    endBySignal(forwarded || signal);
  } else if (code !== 0) {
    throw new BootstrapError(`npm ci ended with exit code ${code}; its message above says why.`);
  }
}

/** In this process: a signal from a terminal and one from another process then reach the same handlers. */
async function runInThisProcess(name, args) {
  const { register } = await import('tsx/esm/api');
  register();
  const program = join(REPOSITORY, 'dev', name);
  process.argv = [process.execPath, program, ...args];
  await import(pathToFileURL(program).href);
}

/** Tests that lack a program of the system are skipped, or fail: the last lines say so, also after the failure of others. */
async function runTests(args, env) {
  const missing = ensureTestPrograms();
  try {
    await runNode(args, env);
  } finally {
    if (missing.length > 0) {
      console.error(`\n${untested(missing)}`);
    }
  }
}

async function runNode(args, env = {}) {
  const { code, signal } = await run(process.execPath, args, env);
  if (signal !== null) {
    endBySignal(signal);
  } else {
    process.exitCode = code;
  }
}

/** Runs a program in the checkout's folder, hands signals on to it, and gives its end and the last signal handed on. */
function run(program, args, env = {}, stdio = 'inherit') {
  return new Promise((resolve, reject) => {
    let child;
    let forwarded = null;
    const forward = (signal) => {
      forwarded = signal;
      child.kill(signal);
    };
    // Before the program runs: a signal in between would end this process and leave the program behind.
    for (const signal of SIGNALS) {
      process.on(signal, forward);
    }
    const stopForwarding = () => {
      for (const signal of SIGNALS) {
        process.off(signal, forward);
      }
    };
    child = spawn(program, args, { cwd: REPOSITORY, stdio, env: { ...process.env, ...env } });
    child.once('error', (error) => {
      stopForwarding();
      reject(new BootstrapError(`${program} could not be started: ${error.message}`));
    });
    child.once('close', (code, signal) => {
      stopForwarding();
      resolve({ code, signal, forwarded });
    });
  });
}

/** Ends as the child did, so that a shell sees the same. */
function endBySignal(signal) {
  process.kill(process.pid, signal);
}

function readJson(path) {
  return JSON.parse(readFileSync(join(REPOSITORY, path), 'utf8'));
}
