import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from './run/temporary-folder.ts';

interface Missing {
  readonly name: string;
  readonly tests: string;
}

/** The exports of dev/test-programs.mjs, which is no TypeScript since it runs before anything is installed. */
interface TestPrograms {
  ensureTestPrograms(options: { say: (line: string) => void; isRoot: boolean; policy: string }): readonly Missing[];
  untested(missing: readonly Missing[]): string;
}

const MODULE = resolve('dev/test-programs.mjs');
const path = process.env['PATH'];
let machine = '';

beforeEach(() => {
  machine = join(temporaryFolder(), 'bin');
  mkdirSync(machine);
  symlinkSync('/bin/sh', join(machine, 'sh'));
  process.env['PATH'] = machine;
});
afterEach(() => {
  process.env['PATH'] = path;
});

function install(name: string, script: string): void {
  writeFileSync(join(machine, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(machine, name), 0o755);
}

/** An apt-get that writes down what it is asked and whether services may start, and installs kubectl alone. */
function aptGet(): string {
  const log = join(machine, 'apt.log');
  install(
    'apt-get',
    `[ -e ${machine}/policy ] && may=no; echo "services: $may; $@" >> ${log}
     case "$1" in install) printf '#!/bin/sh\\n' > ${machine}/kubectl ;; esac`,
  );
  return log;
}

async function ensure(isRoot: boolean) {
  const said: string[] = [];
  const { ensureTestPrograms, untested } = (await import(MODULE)) as TestPrograms;
  const policy = join(machine, 'policy');
  const missing = ensureTestPrograms({ say: (line) => said.push(line), isRoot, policy });
  return { said: said.join('\n'), missing: missing.map(({ name }) => name), last: untested(missing), policy };
}

describe('the programs of the system that tests use', () => {
  test('are installed by apt-get under root, and start no service; what is still missing is told', async () => {
    const log = aptGet();
    const { said, missing, policy } = await ensure(true);
    expect(said).toMatch(/installing prometheus .*kubernetes-client .* by apt-get/);
    expect(readFileSync(log, 'utf8')).toMatch(/services: no; install --yes --no-install-recommends prometheus /);
    expect(missing).toContain('prometheus');
    expect(missing).not.toContain('kubernetes-client');
    expect(existsSync(policy)).toBe(false);
  });

  test.each([
    ['another user than root', false, true],
    ['root without apt-get', true, false],
  ])('are named at the end to %s, with one command', async (_, isRoot, hasAptGet) => {
    const log = hasAptGet ? aptGet() : join(machine, 'apt.log');
    const { last, said } = await ensure(isRoot);
    expect([existsSync(log), said]).toEqual([false, '']);
    expect(last).toMatch(
      /^NOT TESTED, since programs are missing:\n {2}- alert rules, .*\(Debian's package prometheus\)\n/,
    );
    expect(last).toMatch(
      /\nOne command mends it on Debian and Ubuntu: sudo apt-get install prometheus .*kubernetes-client/,
    );
  });

  test('are told what apt-get said when it fails', async () => {
    install('apt-get', 'case "$1" in --version) ;; *) echo "E: no network" >&2; exit 100 ;; esac');
    expect((await ensure(true)).said).toMatch(/could not install them:\n(.|\n)*E: no network/);
  });
});
