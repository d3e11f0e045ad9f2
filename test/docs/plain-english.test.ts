import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { read } from './pages.ts';
import { type Passage, passagesOfMarkdown, passagesOfTypeScript } from './passages.ts';
import { findingsIn } from './plain-english.ts';

const tracked = (...patterns: readonly string[]): readonly string[] =>
  execFileSync('git', ['-c', 'safe.directory=*', 'ls-files', '-z', ...patterns.map((each) => `:(glob)${each}`)], {
    encoding: 'utf8',
  })
    .split('\0')
    .filter((path) => path !== '');

/** Of deployment/ not what is generated: it has the words of Kubernetes. */
const SOURCES = [
  'app',
  'charts',
  'contract',
  'deployment/pods',
  'deployment/sections',
  'monitoring/dashboards',
  'settings',
  'synthesis',
];

const TESTS_OF_ROWS = ['app/records', 'app/store', 'app/tables', 'integration/store', 'integration/tables'].map(
  (room) => `test/${room}/**/*.ts`,
);

/** Not `dev/generate`, whose texts are those of documents. */
const DEV_FOLDERS = [
  'bench',
  'chaos',
  'cluster',
  'image',
  'mutate',
  'orders',
  'run',
  'schemas',
  'stack',
  'start',
  'verdict',
].map((folder) => `dev/${folder}/**/*.ts`);

/**
 * Files that are kept plain, and how their prose is found. Not CHANGELOG.md and the decisions, which are never
 * rewritten.
 */
const KEPT_PLAIN: readonly (readonly [paths: readonly string[], passagesOf: (text: string) => readonly Passage[]])[] = [
  [tracked('README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs/*.md', 'docs/runbooks/*.md'), passagesOfMarkdown],
  [tracked('main.ts', ...SOURCES.map((room) => `${room}/**/*.ts`)), passagesOfTypeScript],
  [tracked('dev/*.ts', ...DEV_FOLDERS), passagesOfTypeScript],
  [tracked(...TESTS_OF_ROWS), passagesOfTypeScript],
];

const findings = (passages: readonly Passage[]): readonly (readonly [number, string])[] => passages.flatMap(findingsIn);

test.each(KEPT_PLAIN.flatMap(([paths, passagesOf]) => paths.map((path) => ({ path, passagesOf }))))(
  '$path is in plain English',
  ({ path, passagesOf }) => {
    expect(findings(passagesOf(read(path))).map(([line, finding]) => `${path}:${line}: ${finding}`)).toEqual([]);
  },
);

const LONG_SENTENCE = `I${' go on'.repeat(18)}.`;

describe('what is found in a document', () => {
  test.each([
    ['Fine.\n\nThe log\ntells it.', [[4, expect.stringMatching(/^"tells": write another word/)]]],
    ['| a | The lag is told |', [[1, expect.stringMatching(/^"told"/)]]],
    ['- An offset that\n  stood there', [[2, expect.stringMatching(/^"stood"/)]]],
    ['A process of\nits own.', [[1, expect.stringMatching(/^"of its own"/)]]],
    ['The mapping as it is then.', [[1, expect.stringMatching(/^"as it is then"/)]]],
    [`Short.\n${LONG_SENTENCE}`, [[2, 'a sentence of 37 words, at most 35: "I go on go on go ..."']]],
    [`- ${LONG_SENTENCE}`, [[1, expect.stringMatching(/^a sentence of 37 words/)]]],
    [`# Heading\n${'columns '.repeat(16)}`, [[2, 'a line of 128 columns, at most 120']]],
    [`| a | ${'c'.repeat(201)} |`, [[1, 'a cell of 201 characters, at most 200: make the table a list']]],
  ])('%j', (text, expected) => {
    expect(findings(passagesOfMarkdown(text))).toEqual(expected);
  });

  test.each([
    ['a block of code', `\`\`\`text\nwhat was told${' and told'.repeat(30)}\n\`\`\``],
    ['code in a sentence', 'The command `tell  me` runs.'],
    ['the target of a link', `[A link](https://example.com/${'told/'.repeat(30)}) and more.`],
    ['a row of a table that is wide', `| ${'cell | '.repeat(30)}`],
    ['two items of a list', `- It${' goes on'.repeat(10)}\n- It${' goes on'.repeat(10)}`],
    ['two sentences', `It${' goes on'.repeat(10)}.\nIt${' goes on'.repeat(10)}.`],
    ['a word that only begins alike', 'A standby understands; a teller standardizes.'],
  ])('nothing in %s', (_, text) => {
    expect(findings(passagesOfMarkdown(text))).toEqual([]);
  });
});

describe('what is found in a source', () => {
  test.each([
    ['const a = 1; // is told', [[1, expect.stringMatching(/^"told"/)]]],
    ['/**\n * A row of\n * its own.\n */\nconst a = 1;', [[2, expect.stringMatching(/^"of its own"/)]]],
    [`// ${'columns '.repeat(16)}`, [[1, 'a line of 131 columns, at most 120']]],
    ["\nthrow new Error('The broker tells nothing');", [[2, expect.stringMatching(/^"tells"/)]]],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a source that has a template
    ['\n\nconst a = `${1} stands in the log`;', [[3, expect.stringMatching(/^"stands"/)]]],
  ])('%j', (text, expected) => {
    expect(findings(passagesOfTypeScript(text))).toEqual(expected);
  });

  test.each([
    ['names and short strings', "const told = 'told'; const stands = { told: 'it stands' };"],
    ['comments that end', `// It${' goes on'.repeat(10)}\n\nconst a = 1;\n// It${' goes on'.repeat(10)}`],
    ['what PostgreSQL reads', `query('SELECT ${'a + '.repeat(40)}b');`],
    ['the rest of a template of SQL', `query(\`(SELECT \${a} ${'+ b '.repeat(40)}\`);`],
    [
      'entries of a text',
      `const help = \`Options:\n  --a  it${' goes on'.repeat(10)}\n  --b  it${' goes on'.repeat(10)}\`;`,
    ],
    ['tags', `/**\n * It${' goes on'.repeat(10)}\n * @param a It${' goes on'.repeat(10)}\n */`],
  ])('nothing in %s', (_, text) => {
    expect(findings(passagesOfTypeScript(text))).toEqual([]);
  });
});
