import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { SECRET_SETTINGS } from '../../deployment/sections/application.ts';
import { describeProblems } from '../../settings/schema/problem.ts';
import { checkedEnvironments } from '../../synthesis/checked-environment.ts';
import { canary, mutate, plantedDocument, randomNumbers, told } from '../app/configuration/canaries.ts';
import { longTest } from '../integration/stack/long-test.ts';

const root = mkdtempSync(join(tmpdir(), 'secrets-in-files-'));
const folder = join(root, 'checkout');

afterAll(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'environments'), { recursive: true });
  writeFileSync(join(folder, 'consumer.yaml'), RIGHT);
});

const RIGHT = `image:
  repository: registry/stream-consumer
database:
  existingSecret: database
application:
  kafka: { brokers: ["a:1"], topics: [orders], groupId: g }
`;

function described(): { readonly text: string; readonly count: number } {
  const checked = checkedEnvironments(folder);
  const problems = checked.ok ? [] : checked.problems;
  return { text: describeProblems(problems), count: problems.length };
}

test.each(['consumer.yaml', 'environments/prod.yaml'])(
  'a slip of one blank in %s shows a place and no password',
  (file) => {
    writeFileSync(join(folder, file), ' application:\n  database:\n    password: hunter2hunter2\n"');
    const { text, count } = described();
    expect(count).toBeGreaterThan(0);
    expect(text).toMatch(new RegExp(`is not YAML: .* \\(${file}:\\d+:\\d+\\)`));
    expect(text).not.toContain('hunter2');
  },
);

function showsNoSecretAfterSlips(runs: number): void {
  const random = randomNumbers(4);
  const { document, secrets } = plantedDocument(random);
  const whole = { image: { repository: 'r/a' }, database: { existingSecret: 'd' }, application: document };
  const texts = [stringify(whole), stringify(whole, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' })];
  for (let run = 0; run < runs; run += 1) {
    const text = mutate(mutate(texts[run % texts.length] ?? '', random), random);
    writeFileSync(join(folder, run % 3 === 0 ? 'environments/prod.yaml' : 'consumer.yaml'), text);
    expect(told(described().text, secrets)).toEqual([]);
  }
  expect(SECRET_SETTINGS.length).toBeGreaterThan(5);
}

const NO_SLIP = 'no slip in consumer.yaml or an overlay makes a message show what belongs into a Secret';

test(NO_SLIP, () => showsNoSecretAfterSlips(200));

// The same slips and more of them.
longTest(`${NO_SLIP}, in 1,000 files`, async () => showsNoSecretAfterSlips(1_000));

test('8,000 unknown keys are ten problems and the number of the others', () => {
  const keys = Array.from({ length: 8_000 }, (_, index) => `k${index}x: 1`).join('\n');
  writeFileSync(join(folder, 'consumer.yaml'), `${RIGHT}${keys}\n`);
  const { text, count } = described();
  expect(count).toBe(8_000);
  expect(text.match(/is not a known key/g)).toHaveLength(10);
  expect(text).toMatch(/\nand 7,990 more$/);
}, 60_000);

test('lists in each other without end are refused with a place', () => {
  writeFileSync(join(folder, 'consumer.yaml'), `pods: ${'['.repeat(100_000)}`);
  expect(described().text).toMatch(/is not YAML: is nested more than 64 levels deep \(consumer.yaml:1:\d+\)/);
  writeFileSync(join(folder, 'consumer.yaml'), `pods: ${'['.repeat(500)}${']'.repeat(500)}`);
  expect(described().text).toMatch(/is not YAML: is nested more than 64 levels deep \(consumer.yaml:1:\d+\)/);
}, 60_000);

/** Reading a pipe would wait for a writer for ever. */
const PLACES: Readonly<Record<string, (path: string) => void>> = {
  'a pipe': (path) => execFileSync('mkfifo', [path]),
  'a folder': (path) => mkdirSync(path),
  'a device': (path) => symlinkSync('/dev/zero', path),
};

test.each(
  ['consumer.yaml', 'environments/prod.yaml'].flatMap((file) =>
    Object.keys(PLACES).map((what) => [file, what] as const),
  ),
)('%s that is %s is refused with words', (file, what) => {
  rmSync(join(folder, file), { force: true });
  PLACES[what]?.(join(folder, file));
  expect(described().text).toMatch(new RegExp(`the document is (a folder|not a regular file) \\(${file}\\)`));
});

test('a secret in the place of an environment is not shown', () => {
  const secret = canary(randomNumbers(3));
  const checked = checkedEnvironments(folder, [secret]);
  expect(checked.ok ? '' : describeProblems(checked.problems)).toMatch(
    /--env names no file in environments\/: "\*{6}"/,
  );
});
