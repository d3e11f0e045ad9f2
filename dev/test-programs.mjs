// The programs of the system that tests use beside Node, Java and Maven: `npm test` has those that are missing installed
// where it may, and else says what they would have tested. `node dev/test-programs.mjs` does so for CI, before anything
// is installed: it imports nothing but Node.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Asked by Debian's packages before they start a service; 101 forbids it. */
const POLICY = '/usr/sbin/policy-rc.d';
/** Where Debian has servers; the path of users other than root may lack it. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin'];

const inPath = (program) =>
  [...(process.env.PATH ?? '').split(delimiter), ...SYSTEM_FOLDERS].some((folder) => existsSync(join(folder, program)));

const runs = (program, args) => spawnSync(program, args, { stdio: 'ignore', env: process.env }).status === 0;

const hasFaketime = () =>
  existsSync('/usr/lib') &&
  readdirSync('/usr/lib').some((folder) => existsSync(join('/usr/lib', folder, 'faketime', 'libfaketime.so.1')));

/** By Debian's packages: whether the programs of one are there, and what is not tested without them. */
const TEST_PROGRAMS = [
  {
    name: 'prometheus',
    isThere: () => inPath('promtool') && inPath('prometheus'),
    tests: 'alert rules, names of metrics, queries of runbooks and dashboards',
  },
  {
    name: 'prometheus-alertmanager',
    isThere: () => inPath('amtool') && inPath('prometheus-alertmanager'),
    tests: 'inhibitions, alerts of a running consumer',
  },
  { name: 'kubernetes-client', isThere: () => inPath('kubectl'), tests: 'the GitOps examples' },
  { name: 'libfaketime', isThere: hasFaketime, tests: 'clocks that are set' },
  { name: 'postgresql-client', isThere: () => inPath('psql'), tests: 'the commands of runbooks' },
  { name: 'chromium', isThere: () => inPath('chromium'), tests: 'the page in a browser' },
  { name: 'pgbouncer', isThere: () => inPath('pgbouncer'), tests: 'connection pooling' },
  {
    name: 'python3-pip',
    isThere: () => runs('python3', ['-m', 'pip', '--version']),
    tests: "librdkafka's codecs, Apicurio's registry",
  },
];

const missingPrograms = () => TEST_PROGRAMS.filter(({ isThere }) => !isThere());

/**
 * Has apt-get install what is missing, where this process is root and the system has apt-get; no service is started.
 *
 * @param {{ say?: (line: string) => void, isRoot?: boolean, policy?: string }} options
 * @returns what is still missing
 */
export function ensureTestPrograms({ say = console.error, isRoot = process.getuid?.() === 0, policy = POLICY } = {}) {
  const missing = missingPrograms();
  if (missing.length === 0 || !isRoot || !runs('apt-get', ['--version'])) {
    return missing;
  }
  const names = missing.map(({ name }) => name);
  say(`tests need more programs: installing ${names.join(' ')} by apt-get, a minute or two ...`);
  const made = !existsSync(policy);
  if (made) {
    writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  }
  try {
    install(names, say);
  } finally {
    if (made) {
      rmSync(policy, { force: true });
    }
  }
  return missingPrograms();
}

function install(names, say) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] };
  const update = spawnSync('apt-get', ['update'], options);
  const { status, stdout, stderr } = spawnSync(
    'apt-get',
    ['install', '--yes', '--no-install-recommends', ...names],
    options,
  );
  if (status !== 0) {
    const said = `${update.status === 0 ? '' : update.stderr}${stdout}${stderr}`.trim().split('\n').slice(-8);
    say(['apt-get could not install them:', ...said.map((line) => `    ${line}`)].join('\n'));
  }
}

/** What is not tested without these programs, and the command that mends it. */
export function untested(missing) {
  return [
    'NOT TESTED, since programs are missing:',
    ...missing.map(({ name, tests }) => `  - ${tests} (Debian's package ${name})`),
    `One command mends it on Debian and Ubuntu: sudo apt-get install ${missing.map(({ name }) => name).join(' ')}`,
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const missing = ensureTestPrograms();
  if (missing.length > 0) {
    console.error(untested(missing));
    process.exitCode = 1;
  }
}
