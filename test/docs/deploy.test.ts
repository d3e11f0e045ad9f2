import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { describeProblem } from '../../settings/schema/problem.ts';
import { consumerDocument } from '../charts/example-consumer.ts';
import { read } from './pages.ts';

const PAGE = read('docs/deploy.md');
const [, PRODUCTION = ''] = /^## To production, in order\n([\s\S]*?)^## /m.exec(PAGE) ?? [];

test('production goes from rights over roles, size, probes, alerts, doctor, image and apply to the next version', () => {
  const steps = [...PRODUCTION.matchAll(/^\*\*(\d)\. (.*?)\*\*/gm)].map(([, number, name]) => `${number} ${name}`);
  expect(steps).toEqual([
    '1 Rights at Kafka.',
    '2 Two roles in PostgreSQL.',
    '3 Size.',
    '4 Probes.',
    '5 Alerts that reach somebody.',
    '6 Look before it runs.',
    '7 Pin the image',
    '8 Apply it, and look.',
    '9 The next version.',
  ]);
});

test('what its steps write into consumer.yaml is one file that synth takes', () => {
  const blocks = [...PRODUCTION.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, text = '']) => parse(text) as object);
  expect(blocks.length).toBeGreaterThan(4);
  const checked = checkConsumerFile(consumerDocument(Object.assign({}, ...blocks)));
  expect(checked.ok ? [] : checked.problems.map(describeProblem)).toEqual([]);
});

/** Commands of the page by how they begin, where each is run, and what shows that it is. */
const COMMANDS: Readonly<Record<string, readonly [path: string, proof: string]>> = {
  'npm ci': ['.ci/run', 'npm ci'],
  'npx cdk8s synth': ['test/integration/commands/synth-command.test.ts', 'node_modules/.bin/cdk8s synth'],
  'npm run image': ['test/image/stack/setup.ts', "'run', 'image'"],
  'kubectl create namespace': ['dev/cluster.ts', "kind: 'Namespace'"],
  'kubectl --namespace stream-consumer create secret': ['dev/cluster.ts', "kind: 'Secret'"],
  'kubectl apply --server-side': ['dev/cluster/manifest-checks.ts', "'apply', '--server-side'"],
  'kubectl diff --server-side': ['dev/cluster/manifest-checks.ts', "'diff'"],
  'kubectl delete -f dist': ['dev/cluster/manifest-checks.ts', '!pod-security.kubernetes.io/enforce'],
  'kubectl delete namespace': ['dev/cluster.ts', "'delete', 'namespace'"],
  'kubectl --namespace stream-consumer rollout status': ['dev/cluster/pod-checks.ts', "'rollout', 'status'"],
  'kafka-acls.sh': ['test/integration/commands/doctor-kafka.test.ts', 'docs/deploy.md'],
};

const lines = [...PAGE.matchAll(/^```(?:bash|console)\n([\s\S]*?)^```/gm)].flatMap(([block, text = '']) =>
  text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line !== '' && (!block.startsWith('```console') || line.startsWith('$ ')))
    .map((line) => line.replace(/^\$ /, '')),
);

test.each(lines)('a test or CI runs: %s', (line) => {
  const known = Object.entries(COMMANDS).filter(([begin]) => line.startsWith(begin));
  expect([line, known.length]).toEqual([line, 1]);
});

test.each(Object.entries(COMMANDS))('%s is on the page, and where it is run', (begin, [path, proof]) => {
  expect(lines.filter((line) => line.startsWith(begin))).not.toEqual([]);
  expect(read(path)).toContain(proof);
});
