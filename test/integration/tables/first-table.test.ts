import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { COMPILED_PROGRAMS } from '../../../dev/run/consumer-process.ts';
import { javaCommand, QUICK_START } from '../../../dev/stack/java-program.ts';
import { KAFKA_JARS } from '../../../dev/stack/local-kafka.ts';
import { mavenJars } from '../../../dev/stack/maven-jars.ts';
import { folderWith } from '../../app/configuration/folder.ts';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedBroker, sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { testRun } from '../stack/test-run.ts';

const PAGE = 'docs/first-table.md';
const NAME = randomName('payments');

afterAll(() =>
  query(`DROP SCHEMA IF EXISTS ${NAME}, ${NAME}_consumer CASCADE;
    DROP OWNED BY ${NAME}_owner, ${NAME}_writer; DROP ROLE ${NAME}_owner, ${NAME}_writer`),
);

/** Behind the short way, which another test runs. */
const [, LONG_WAY = ''] = readFileSync(PAGE, 'utf8').split(/(?=^## A topic$)/m);

/** The page's commands and what they print, in their order. */
const BLOCKS = [...LONG_WAY.matchAll(/^```(bash|text)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
  language,
  text,
}));

/** A text of the page with the names and servers of this test. */
function real(text: string): string {
  const url = new URL(sharedDatabaseUrl());
  return text
    .replaceAll('postgresql://postgres@localhost:5432/postgres', url.href)
    .replaceAll('localhost:5432/postgres', `${url.host}${url.pathname}`)
    .replaceAll('localhost:9092', sharedBroker())
    .replaceAll(/\bpayments(?=\b|_owner|_writer|_consumer|-group)(?!\.(jsonl|sql))/g, NAME);
}

/** What the commands are on this machine. */
async function programs(): Promise<string> {
  const folder = join(folderWith({}), 'bin');
  mkdirSync(folder);
  const jars = await mavenJars(await testRun(), KAFKA_JARS, () => undefined);
  const java = (main: string) => {
    const { program, args } = javaCommand({ jars, main, args: [], jvm: QUICK_START });
    return [program, ...args].map((word) => `'${word}'`).join(' ');
  };
  const commands = {
    'kafka-topics.sh': java('org.apache.kafka.tools.TopicCommand'),
    'kafka-console-producer.sh': java('org.apache.kafka.tools.ConsoleProducer'),
    'stream-consumer': `'${process.execPath}' '${join(COMPILED_PROGRAMS, 'main.js')}'`,
  };
  for (const [name, command] of Object.entries(commands)) {
    writeFileSync(join(folder, name), `#!/bin/sh\nexec ${command} "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

const MARK = '--- end of a block ---';

test('each command of the tutorial runs, and prints what the page has', async () => {
  const commands = BLOCKS.filter(({ language }) => language === 'bash');
  expect(commands.length).toBeGreaterThan(8);
  const script = commands.map(({ text }) => `${real(text)}echo '${MARK}'\n`).join('');
  const { stdout } = await promisify(execFile)('bash', ['-euc', `set -o pipefail\n${script}`], {
    cwd: folderWith({}),
    env: { PATH: `${await programs()}:${process.env['PATH']}`, SERVER_PORT: '0' },
  });
  const printed = stdout.split(`${MARK}\n`);
  const expected = commands.map(({ text }) => {
    const next = BLOCKS[BLOCKS.findIndex((block) => block.text === text) + 1];
    return next?.language === 'text' ? real(next.text) : null;
  });
  for (const [nth, text] of expected.entries()) {
    // Other test files have schemas with offsets.
    const output = (printed[nth] ?? '').replaceAll(/^ {2}the schema .*\n/gm, '');
    expect([commands[nth]?.text, output]).toEqual([commands[nth]?.text, text ?? (nth < 2 ? output : '')]);
  }
});
