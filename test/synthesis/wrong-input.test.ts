import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { describeProblem } from '../../settings/schema/problem.ts';
import { checkedEnvironments } from '../../synthesis/checked-environment.ts';

const RIGHT = `image:
  repository: registry/stream-consumer
database:
  existingSecret: database
application:
  kafka: { brokers: ["a:1"], topics: [orders], groupId: g }
`;

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wrong-input-'));
  mkdirSync(join(folder, 'environments'));
  writeFileSync(join(folder, 'consumer.yaml'), RIGHT);
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function problems(): string[] {
  const checked = checkedEnvironments(folder);
  return checked.ok ? [] : checked.problems.map(describeProblem);
}

/**
 * What is wrong, the lines of an overlay that are wrong, and what the message has to hold: value, place, what is
 * allowed.
 */
const MISTAKES: readonly (readonly [what: string, lines: string, ...parts: string[]])[] = [
  ['an unknown key', 'replica: 2', 'replica is not a known key', 'did you mean replicas?', 'allowed: name, '],
  ['a wrong type', 'replicas: many', 'replicas has the wrong type: "many"', 'allowed: a whole number from 0 to 1000'],
  [
    'a grace period below the drain deadline',
    'terminationGracePeriodSeconds: 20',
    'application.shutdown.timeout (25s), so a Pod would be killed while it drains: 20',
    'allowed: more than 25 seconds',
  ],
  [
    'replicas above the partitions with a surge',
    'replicas: 6\npartitions: 6\nrollout: { maxSurge: 1 }',
    'more than there are partitions (6)',
    ': 6 (',
    'allowed: at most 5, or a rollout.maxSurge of 0',
  ],
  ['the tag latest', 'image: { tag: latest }', 'image.tag moves', '"latest"', 'allowed: a tag that is pushed once'],
  [
    'a literal password',
    'application: { database: { password: hunter2 } }',
    'application.database.password is a secret',
    'allowed: a Secret in the cluster with the key password',
  ],
  [
    'a probe that times out after its period',
    'probes: { liveness: { timeoutSeconds: 31 } }',
    'probes.liveness.timeoutSeconds is longer than the period',
    ': 31 (',
    'allowed: at most probes.liveness.periodSeconds (30)',
  ],
  [
    'a startup probe that times out after its period',
    'probes: { startup: { timeoutSeconds: 6 } }',
    'probes.startup.timeoutSeconds is longer than the period',
    ': 6 (',
    'allowed: at most probes.startup.periodSeconds (5)',
  ],
  [
    'a memory limit below what the heap needs',
    'resources: { limits: { memory: 64Mi } }',
    'resources.limits.memory is too small for the consumer: "64Mi"',
    'allowed: at least 160Mi',
  ],
  [
    'two autoscalers',
    'partitions: 6\nscaling: { keda: {}, hpa: { cpuPercent: 80 } }',
    'scaling has two autoscalers',
    'allowed: one of keda and hpa',
  ],
];

test.each(MISTAKES)('%s is refused with its place, its value and what is allowed', (_what, lines, ...parts) => {
  writeFileSync(join(folder, 'environments/prod.yaml'), `${lines}\n`);
  const found = problems();
  expect(found).toHaveLength(1);
  for (const part of [...parts, '(environments/prod.yaml:']) {
    expect(found[0]).toContain(part);
  }
  expect(found[0]).not.toContain('hunter2');
});

test('mistakes of all files are told at once, each with its file, line and column', () => {
  writeFileSync(join(folder, 'consumer.yaml'), `${RIGHT}replica: 2\nprobes: { readiness: { timeoutSeconds: 11 } }\n`);
  writeFileSync(join(folder, 'environments/prod.yaml'), 'image:\n  tag: latest\n');
  writeFileSync(join(folder, 'environments/test.yaml'), 'replicas: many\npartitions: 0\n');
  expect(problems().map((text) => /\(([^()]*:\d+:\d+)\)/.exec(text)?.[1])).toEqual([
    'consumer.yaml:7:10',
    'consumer.yaml:8:40',
    'environments/prod.yaml:2:8',
    'environments/test.yaml:1:11',
    'environments/test.yaml:2:13',
  ]);
});
