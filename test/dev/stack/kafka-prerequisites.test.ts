import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ensurePrerequisites } from '../../../dev/stack/kafka-prerequisites.ts';
import { temporaryFolder } from '../run/temporary-folder.ts';

/** The programs of a machine: shell scripts in a folder that is the whole path. */
let machine = '';
const before = { path: process.env['PATH'], javaHome: process.env['JAVA_HOME'] };

beforeEach(() => {
  machine = temporaryFolder();
  symlinkSync('/bin/sh', join(machine, 'sh'));
  process.env['PATH'] = machine;
  delete process.env['JAVA_HOME'];
});
afterEach(() => {
  process.env['PATH'] = before.path;
  if (before.javaHome !== undefined) {
    process.env['JAVA_HOME'] = before.javaHome;
  }
});

function program(file: string, script: string): void {
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

const install = (name: string, script: string): void => program(join(machine, name), script);

const java = (version: string): void => install('java', `echo 'openjdk version "${version}" 2025-04-15' >&2`);
const maven = (): void => install('mvn', 'echo Apache Maven 3.8.7');

async function ensure({ hasJars = false, isRoot = false } = {}) {
  const progress: string[] = [];
  await ensurePrerequisites({ hasJars, isRoot, onProgress: (message) => progress.push(message) });
  return progress;
}

describe('the prerequisites of a local Kafka', () => {
  test('are met by Java 17 and Maven', async () => {
    java('17.0.15');
    maven();
    expect(await ensure()).toEqual([]);
  });

  test('are met without Maven when the jars are there', async () => {
    java('21');
    expect(await ensure({ hasJars: true })).toEqual([]);
  });

  test('name all that is missing and three ways out', async () => {
    const failure = ensure();
    await expect(failure).rejects.toThrow(/^Java was not found; Maven \(mvn\) was not found\.\n/);
    await expect(failure).rejects.toThrow(
      /apt-get install default-jre-headless maven(.|\n)*brew install openjdk maven, then export JAVA_HOME(.|\n)*--kafka HOST:PORT --database postgres(.|\n)*docker compose/,
    );
  });

  test.each(['1.8.0_392', '11.0.2'])('are not met by Java %s', async (version) => {
    java(version);
    maven();
    await expect(ensure()).rejects.toThrow(/^Java (8|11) is too old: at least 17 is needed\./);
  });

  test('do not count a Maven that only lacks Java as missing', async () => {
    install('mvn', 'echo "JAVA_HOME is not set" >&2; exit 1');
    await expect(ensure()).rejects.toThrow(/^Java was not found\.\n/);
  });

  test('take the Java of JAVA_HOME', async () => {
    java('11');
    maven();
    const home = temporaryFolder();
    mkdirSync(join(home, 'bin'));
    program(join(home, 'bin', 'java'), `echo 'openjdk version "17.0.1"' >&2`);
    process.env['JAVA_HOME'] = home;
    expect(await ensure()).toEqual([]);
  });
});

describe('missing prerequisites under root', () => {
  /** An apt-get that writes down what it is asked and installs a Java and a Maven. */
  function aptGet(exitCode = 0): string {
    const log = join(machine, 'apt.log');
    const tools = `printf '#!/bin/sh\\necho version \\\\"17\\\\" >&2\\n' > ${machine}/java; printf '#!/bin/sh\\n' > ${machine}/mvn`;
    symlinkSync('/bin/chmod', join(machine, 'chmod'));
    install(
      'apt-get',
      `echo "$@" >> ${log}
       case "$1" in install) [ ${exitCode} = 0 ] || { echo "E: no such package"; exit ${exitCode}; }
       ${tools}; chmod +x ${machine}/java ${machine}/mvn;; esac`,
    );
    return log;
  }

  test('are installed by apt-get, its lists first, and said', async () => {
    const log = aptGet();
    const [said] = await ensure({ isRoot: true });
    expect(said).toBe(
      'Java was not found; Maven (mvn) was not found: installing default-jre-headless and maven by apt-get, about a minute',
    );
    expect(readFileSync(log, 'utf8').trim().split('\n')).toEqual([
      '--version',
      'update',
      'install --yes --no-install-recommends default-jre-headless maven',
    ]);
  });

  test('are said with what apt-get said when it cannot install them', async () => {
    aptGet(100);
    await expect(ensure({ isRoot: true })).rejects.toThrow(
      /apt-get could not install(.|\n)*E: no such package(.|\n)*--kafka/,
    );
  });

  test('are only named where there is no apt-get', async () => {
    await expect(ensure({ isRoot: true })).rejects.toThrow(/^Java was not found/);
  });

  test('are not installed for another user than root', async () => {
    const log = aptGet();
    await expect(ensure()).rejects.toThrow(/^Java was not found/);
    expect(existsSync(log)).toBe(false);
  });
});
