import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

const document = readFileSync('docs/gitops.md', 'utf8');
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Readonly<Record<string, string>> };

const blocks = (language: string): string[] =>
  [...document.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text = '']) => text);

describe('docs/gitops.md', () => {
  test.each([...new Set([...document.matchAll(/npm run ([a-z:]+)/g)].map(([, name = '']) => name))])(
    'names no script that is not there: npm run %s',
    (name) => {
      expect(Object.keys(scripts)).toContain(name);
    },
  );

  test('shows what the test in a cluster says, by the names of its checks', () => {
    const source = readFileSync('dev/cluster.ts', 'utf8');
    const checks = [...source.matchAll(/results\.check\(\s*(['`])(.*?)\1/g)].map(([, , name = '']) =>
      name.replace(/\$\{.*?\}/, '1'),
    );
    const [table = '', more = ''] = blocks('console');
    const [rows, verdict] = [table.split('\n').slice(1, -2), table.trimEnd().split('\n').at(-1)];
    const shown = [...rows, ...more.trimEnd().split('\n')].map((row) =>
      row.trim().split(/ {2,}/)[0]?.replace(/\d+/, '1'),
    );
    expect(shown.length).toBeGreaterThan(checks.length / 2);
    expect(checks).toEqual(expect.arrayContaining(shown));
    expect(verdict).toBe('0 failed, 0 skipped');
  });

  test('shows a pipeline that renders, looks for drift of dist/, and for drift of the cluster', () => {
    const [pipeline = ''] = blocks('yaml');
    const { jobs } = parse(pipeline) as { jobs: Record<string, { steps: { run?: string }[] }> };
    const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
    expect(commands).toEqual([
      'npm ci',
      'npm run synth',
      'git add --intent-to-add dist && git diff --exit-code -- dist',
      'echo "$KUBECONFIG_TEXT" >kubeconfig',
      'kubectl diff --server-side -f dist',
    ]);
  });
});
