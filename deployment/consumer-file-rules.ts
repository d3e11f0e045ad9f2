import type { Rule } from '../settings/check.ts';
import { valueAt } from '../settings/document.ts';
import { milliseconds } from '../settings/duration.ts';
import type { Problem } from '../settings/problem.ts';
import type { ConsumerFile } from './consumer-file.ts';
import { ENDPOINT_RULES } from './endpoint-rules.ts';
import { KEY_RULES } from './key-rules.ts';
import { memoryBytes } from './memory-size.ts';
import { NETWORK_RULES } from './network-rules.ts';
import { POD_RULES } from './pod-rules.ts';
import { PROBE_RULES } from './probe-rules.ts';
import { ROLLOUT_RULES } from './rollout-rules.ts';
import { SCALING_RULES } from './scaling-rules.ts';
import { SCRAPE_RULES } from './scrape-rules.ts';
import { SECRET_RULES } from './secret-rules.ts';

/** Below this a Pod would be killed before V8 had a heap worth the name. */
const SMALLEST_MEMORY_LIMIT = '128Mi';

const problems = (isWrong: boolean, problem: Problem): Problem[] => (isWrong ? [problem] : []);

const millicores = (cpu: string): number =>
  cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Math.round(Number(cpu) * 1_000);

const tagIsFixed: Rule<ConsumerFile> = {
  reads: ['image.tag'],
  find: ({ image }) =>
    problems(image.tag?.toLowerCase() === 'latest', {
      path: 'image.tag',
      message: 'moves: two Pods of one Deployment could run different images',
      given: image.tag,
      allowed: "a tag that is pushed once, a digest, or neither: then the package's version is the tag",
    }),
};

const graceOutlastsDrain: Rule<ConsumerFile> = {
  reads: ['terminationGracePeriodSeconds', 'application.shutdown.timeout'],
  find: ({ terminationGracePeriodSeconds, application }) => {
    const timeout = String(valueAt(application, ['shutdown', 'timeout']));
    return problems(terminationGracePeriodSeconds * 1_000 <= milliseconds(timeout), {
      path: 'terminationGracePeriodSeconds',
      message: `is not longer than application.shutdown.timeout (${timeout}), so a Pod would be killed while it drains`,
      given: terminationGracePeriodSeconds,
      allowed: `more than ${Math.ceil(milliseconds(timeout) / 1_000)} seconds, or a shorter application.shutdown.timeout`,
    });
  },
};

const memoryHoldsHeap: Rule<ConsumerFile> = {
  reads: ['resources.limits.memory'],
  find: ({ resources: { limits } }) =>
    problems(memoryBytes(limits.memory) < memoryBytes(SMALLEST_MEMORY_LIMIT), {
      path: 'resources.limits.memory',
      message: 'is too small for the consumer',
      given: limits.memory,
      allowed: `at least ${SMALLEST_MEMORY_LIMIT}`,
    }),
};

const requestsFitLimits: Rule<ConsumerFile> = {
  reads: ['resources'],
  find: ({ resources: { requests, limits } }) => [
    ...problems(memoryBytes(requests.memory ?? limits.memory) > memoryBytes(limits.memory), {
      path: 'resources.requests.memory',
      message: 'is above the limit, which Kubernetes refuses',
      given: requests.memory,
      allowed: `at most resources.limits.memory (${limits.memory}), or nothing: then it is the limit`,
    }),
    ...problems(millicores(requests.cpu) > millicores(limits.cpu), {
      path: 'resources.requests.cpu',
      message: 'is above the limit, which Kubernetes refuses',
      given: requests.cpu,
      allowed: `at most resources.limits.cpu (${limits.cpu})`,
    }),
  ],
};

const saslHasCredentials: Rule<ConsumerFile> = {
  reads: ['kafka', 'application.kafka.sasl'],
  find: ({ kafka, application }) => {
    const sasl = valueAt(application, ['kafka', 'sasl']);
    return [
      ...problems(sasl !== undefined && kafka === undefined, {
        path: 'kafka.existingSecret',
        message: 'is missing, and application.kafka.sasl needs a password',
        allowed: 'the name of a Secret with the keys username and password (kafka.keys renames them)',
      }),
      ...problems(sasl === undefined && kafka !== undefined, {
        path: 'application.kafka.sasl.mechanism',
        message: 'is missing, and kafka.existingSecret gives credentials for it',
        allowed: 'one of plain, scram-sha-256, scram-sha-512',
      }),
    ];
  },
};

/** What must fit together in consumer.yaml; asked only where the values themselves are right. */
export const CONSUMER_FILE_RULES: readonly Rule<ConsumerFile>[] = [
  tagIsFixed,
  graceOutlastsDrain,
  memoryHoldsHeap,
  requestsFitLimits,
  saslHasCredentials,
  ...ENDPOINT_RULES,
  ...PROBE_RULES,
  ...ROLLOUT_RULES,
  ...SCALING_RULES,
  ...NETWORK_RULES,
  ...SCRAPE_RULES,
  ...SECRET_RULES,
  ...POD_RULES,
  ...KEY_RULES,
];
