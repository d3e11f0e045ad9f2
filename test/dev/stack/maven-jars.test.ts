import { chmodSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RunFolder } from '../../../dev/run/run-folder.ts';
import { KAFKA_JARS } from '../../../dev/stack/local-kafka.ts';
import { hasMavenJars, mavenJars } from '../../../dev/stack/maven-jars.ts';
import { temporaryFolder } from '../run/temporary-folder.ts';

/** What every zip file, and so every jar, ends with: here one without entries. */
const EMPTY_ZIP = `\\120\\113\\005\\006${'\\000'.repeat(18)}`;

const path = process.env['PATH'];
let programs = '';
let cache = '';
let run: RunFolder;

beforeEach(async () => {
  programs = temporaryFolder();
  cache = temporaryFolder();
  run = await RunFolder.create(temporaryFolder());
  process.env['PATH'] = `${programs}:${path}`;
});
afterEach(async () => {
  process.env['PATH'] = path;
  await run.close();
});

/** A Maven that writes down its arguments and then runs the script, where `$out` is the folder for the jars. */
function maven(script: string): () => readonly string[] {
  const log = join(programs, 'log');
  const out = `for a in "$@"; do case "$a" in -DoutputDirectory=*) out="\${a#*=}";; esac; done`;
  writeFileSync(join(programs, 'mvn'), `#!/bin/sh\necho "$@" >> ${log}\n${out}\n${script}\n`);
  chmodSync(join(programs, 'mvn'), 0o755);
  return () => readFileSync(log, 'utf8').trim().split('\n');
}

function restore(variables: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) {
      delete process.env[name];
    } else {
      process.env[name] = value;
    }
  }
}

const fetch = (): Promise<string> => mavenJars(run, KAFKA_JARS, () => undefined, cache);

describe("the broker's jars", () => {
  test('are fetched once', async () => {
    const calls = maven(`printf '${EMPTY_ZIP}' > "$out/a.jar"; printf '${EMPTY_ZIP}' > "$out/b.jar"`);
    expect(await hasMavenJars(KAFKA_JARS, cache)).toBe(false);
    const folder = await fetch();
    expect(await fetch()).toBe(folder);
    expect(await hasMavenJars(KAFKA_JARS, cache)).toBe(true);
    expect(calls()).toHaveLength(1);
  });

  test.each<[string, (folder: string) => void]>([
    ['is missing', (folder) => rmSync(join(folder, 'a.jar'))],
    ['is cut off', (folder) => truncateSync(join(folder, 'a.jar'), 10)],
  ])('are fetched again when one of them %s', async (_, damage) => {
    const calls = maven(`printf '${EMPTY_ZIP}' > "$out/a.jar"`);
    damage(await fetch());
    expect(await hasMavenJars(KAFKA_JARS, cache)).toBe(false);
    expect(readdirSync(await fetch())).toContain('a.jar');
    expect(calls()).toHaveLength(2);
  });

  test("are fetched past Maven's own store when that has a damaged one", async () => {
    const calls = maven(
      `case "$*" in *maven.repo.local*) printf '${EMPTY_ZIP}' > "$out/a.jar";; *) echo half > "$out/a.jar";; esac`,
    );
    await fetch();
    expect(await hasMavenJars(KAFKA_JARS, cache)).toBe(true);
    expect(calls()).toEqual([expect.not.stringContaining('repo.local'), expect.stringContaining('repo.local')]);
  });

  test("are fetched into HOME, whatever the system's list of users says, and with the user's own options", async () => {
    const { HOME: home, MAVEN_OPTS: options } = process.env;
    Object.assign(process.env, { HOME: programs, MAVEN_OPTS: '-Xmx99m' });
    try {
      const calls = maven(`echo "$MAVEN_OPTS" >> ${join(programs, 'log')}; printf '${EMPTY_ZIP}' > "$out/a.jar"`);
      await fetch();
      expect(calls()[1]).toBe(`-Duser.home=${programs} -Xmx99m`);
    } finally {
      restore({ HOME: home, MAVEN_OPTS: options });
    }
  });

  test('are missed with what Maven said', async () => {
    maven(String.raw`echo "[INFO] scanning"; printf '\033[0m\033[0m[ERROR] no route to host\n[ERROR] \n'; exit 1`);
    const failure = fetch();
    await expect(failure).rejects.toThrow(/said:\n {4}\[ERROR\] no route to host\nCheck(.|\n)*--kafka/);
    await expect(failure).rejects.not.toThrow(/scanning/);
    expect(readdirSync(cache)).toEqual([]);
  });
});
