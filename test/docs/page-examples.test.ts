import { existsSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { mergeValues } from '../../app/configuration/merge-values.ts';
import { readYaml } from '../../app/configuration/read-yaml.ts';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { describeProblem, type Problem } from '../../settings/schema/problem.ts';
import type { SchemaNode } from '../../settings/schema/schema.ts';
import { checkSettings, SettingsSchema } from '../../settings/settings.ts';
import { consumerDocument } from '../charts/example-consumer.ts';
import { PAGES, read } from './pages.ts';

/** What an example of application.yml leaves out. */
const REQUIRED = `
kafka: { brokers: [b:1], topics: [t], group-id: g }
database: { url: postgresql://h/d }
`;

/** What the examples' placeholders stand for. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  ACTUATOR_TOKEN: 'b-7f3a',
  ACTUATOR_PASSWORD: 'hunter2',
  DATABASE_PASSWORD: 'hunter2',
  KAFKA_PASSWORD: 'hunter2',
  KAFKA_CLIENT_SECRET: 'hunter2',
};

type Checked = { readonly ok: boolean; readonly problems?: readonly Problem[] };

/** What a block of YAML is a part of, as its first line says, and the check that it has to pass. */
const CHECKS: readonly (readonly [firstLine: RegExp, check: (text: string) => Checked])[] = [
  [
    /^# application\.yml/,
    (text) => {
      const { values } = readYaml({
        text: `${REQUIRED}\n---\n${text}`,
        name: 'application.yml',
        schema: SettingsSchema as SchemaNode,
        lookup: (name) => PLACEHOLDERS[name],
      });
      return checkSettings(mergeValues(values).document);
    },
  ],
  [
    /^# consumer\.yaml|environment\.schema\.json/,
    (text) => checkConsumerFile(consumerDocument(parse(text.replace('sha256:...', `sha256:${'0'.repeat(64)}`)))),
  ],
];

const EXAMPLES = PAGES.flatMap((page) =>
  [...read(page).matchAll(/^```yaml\n([\s\S]*?)^```/gm)].flatMap(([, text = '']) =>
    CHECKS.filter(([firstLine]) => firstLine.test(text.split('\n')[0] ?? '')).map(([, check]) => ({
      page,
      text,
      check,
    })),
  ),
);

test.each(EXAMPLES)('an example of $page is right: $text', ({ text, check }) => {
  const { ok, problems = [] } = check(text);
  expect({ ok, problems: problems.map(describeProblem) }).toEqual({ ok: true, problems: [] });
});

test("the README's consumer.yaml is complete by itself", () => {
  const [, text = ''] = /^```yaml\n(# consumer\.yaml\n[\s\S]*?)^```/m.exec(read('README.md')) ?? [];
  expect(checkConsumerFile(parse(text))).toMatchObject({ ok: true });
});

/** Pages whose example another test runs, and what shows that it does. */
const RUN_ELSEWHERE: Readonly<Record<string, readonly [example: string, test: string, proof: string]>> = {
  'docs/database-roles.md': ['```sql', 'test/integration/database/database-roles.test.ts', 'database-roles.md'],
  'docs/dead-letters.md': [
    'dead-letters replay --dry-run',
    'test/integration/commands/dead-letters-command.test.ts',
    '--dry-run',
  ],
  'docs/deploy.md': [
    'npx cdk8s synth',
    'test/integration/commands/synth-command.test.ts',
    'node_modules/.bin/cdk8s synth',
  ],
  'docs/first-table.md': [
    'stream-consumer tables dry-run',
    'test/integration/tables/first-table.test.ts',
    "'docs/first-table.md'",
  ],
  'docs/gitops.md': ['tar --create', 'test/docs/examples.test.ts', 'docs/gitops.md'],
  'docs/kubernetes.md': ['```yaml', 'test/docs/kubernetes.test.ts', 'kubernetes.md'],
  'docs/library.md': ['```ts', 'test/integration/library/packed-product.ts', 'docs/library.md'],
  'docs/metrics.md': ['histogram_quantile(0.99', 'test/docs/runbooks.test.ts', 'docs/metrics.md'],
  'docs/monitoring.md': ['```json', 'test/docs/monitoring.test.ts', 'docs/monitoring.md'],
  'docs/schema.md': ['```sql', 'test/integration/records/partitioned-records.test.ts', 'schema.md'],
  'docs/try-it.md': ['npm run trouble -- postgres', 'test/integration/dev/main-job.test.ts', "trouble(pid, 'postgres'"],
  'docs/upgrading.md': ['stream-consumer migrate', 'test/integration/kafka/rollout.test.ts', 'each version of the'],
};

/** Pages without an example that a test runs, and why. */
const WITHOUT: Readonly<Record<string, string>> = {
  'docs/README.md': 'the index',
  'docs/dependencies.md': 'a list',
  'docs/settings.md': 'a generated list',
  'docs/messages.md': 'a generated list',
  'docs/operate.md': 'the short form of other pages',
  'docs/reliability.md': 'promises, each with a link to its test',
  'docs/faults.md': 'promises, each with a link to its test',
  'docs/health-and-lag.md': 'promises, each with a link to its test',
  'docs/verification.md': 'about the tests themselves',
  'docs/performance.md': 'figures that were measured, with the commands that take minutes',
  'docs/many-tables.md': 'figures that were measured, with the command that takes minutes',
  'docs/comparison.md': 'what others promise, with links, and figures of docs/performance.md',
  'docs/architecture.md': 'a picture, with links to the code and the decisions',
  'docs/pgbouncer.md': "PgBouncer's own file, all of it optional",
};

describe('each page has an example that a test runs', () => {
  /** Records of choices, the generated reference, and runbooks, whose first commands runbooks.test.ts looks for. */
  const BY_RULE = /^docs\/(decisions|api|runbooks)\//;
  const checked = new Set(EXAMPLES.map(({ page }) => page));

  test.each(PAGES.filter((page) => !BY_RULE.test(page)))('%s', (page) => {
    const kinds = [checked.has(page), page in RUN_ELSEWHERE, page in WITHOUT].filter(Boolean);
    expect([page, kinds.length]).toEqual([page, 1]);
  });

  test.each(Object.entries(RUN_ELSEWHERE))('the test of %s knows it', (page, [example, path, proof]) => {
    expect(read(page)).toContain(example);
    expect(read(path)).toContain(proof);
  });

  test('no page that is gone is excused', () => {
    const named = [...Object.keys(RUN_ELSEWHERE), ...Object.keys(WITHOUT)];
    expect(named.filter((page) => !existsSync(page))).toEqual([]);
  });
});

/** Commands of the README, where each is run, and what shows that it is. */
const COMMANDS: Readonly<Record<string, readonly [path: string, proof: string]>> = {
  'git clone https://github.com/stream-consumer/stream-consumer && cd stream-consumer': [
    '.ci/run',
    'git clone --quiet . "$clone" && cd "$clone" && npm start',
  ],
  'npm start': ['test/integration/dev/main-job.test.ts', "spawn('npm', ['start'"],
  'npm run trouble -- records': ['test/integration/dev/main-job.test.ts', "trouble(pid, 'records')"],
  'npm run trouble -- postgres': ['test/integration/dev/main-job.test.ts', "trouble(pid, 'postgres'"],
  'npm run trouble -- roll': ['test/integration/dev/main-job.test.ts', "trouble(child.pid, 'roll')"],
  'npx cdk8s synth': ['test/integration/commands/synth-command.test.ts', 'node_modules/.bin/cdk8s synth'],
  'kubectl apply --server-side -f dist': ['dev/cluster/manifest-checks.ts', "'apply', '--server-side'"],
};

describe('the README', () => {
  const readme = read('README.md');

  test('has no command that nothing runs', () => {
    const shell = [...readme.matchAll(/^```bash\n([\s\S]*?)^```/gm)].flatMap(([, text = '']) =>
      text.trim().split('\n'),
    );
    const scripts = [...readme.matchAll(/npm run [a-z:]+(?: -- [a-z]+)?/g)].map(([command]) => command);
    expect(Object.keys(COMMANDS).toSorted()).toEqual([...new Set([...shell, ...scripts])].toSorted());
  });

  test.each(Object.entries(COMMANDS))('has a command that is run: %s', (_command, [path, proof]) => {
    expect(read(path)).toContain(proof);
  });

  test('is two screens: a picture, a run, the smallest consumer.yaml, and what it does not do', () => {
    const parts = ['](docs/images/', '\nnpm start\n', '# consumer.yaml', '\nkubectl apply', '## What it does not do'];
    const places = [...parts, '](docs/README.md)'].map((part) => readme.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places.toSorted((one, other) => one - other)).toEqual(places);
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(100);
  });
});
