import { type Static, Type } from 'typebox';
import type { Rule } from '../../settings/schema/check.ts';
import { problemIf } from '../../settings/schema/problem.ts';
import { ALLOWED, section } from '../../settings/schema/schema.ts';

const BYTES = { Mi: 1_048_576, Gi: 1_073_741_824 } as const;

/** A whole number of mebibytes or gibibytes, as Kubernetes writes them: `256Mi`, `1Gi`. */
const MEMORY_SIZE_PATTERN = '^[1-9][0-9]{0,5}(Mi|Gi)$';

/**
 * Bytes of a memory size such as `256Mi`.
 *
 * @throws RangeError when the text does not match {@link MEMORY_SIZE_PATTERN}; a checked consumer.yaml always does.
 */
export function memoryBytes(size: string): number {
  const match = /^(\d+)(Mi|Gi)$/.exec(size);
  if (match?.[1] === undefined) {
    throw new RangeError(`"${size}" is not a memory size: a whole number and one of Mi, Gi is`);
  }
  return Number(match[1]) * BYTES[match[2] as keyof typeof BYTES];
}

/** Share of the memory limit that V8's old space may take: fetched records are Buffers, which live outside of it. */
const HEAP_SHARE = 0.65;

/** Mebibytes for `--max-old-space-size` under a memory limit such as `256Mi`. */
export function heapMebibytes(memoryLimit: string): number {
  return Math.floor((memoryBytes(memoryLimit) / BYTES.Mi) * HEAP_SHARE);
}

/** Memory limit of a Pod for which consumer.yaml names none. */
export const DEFAULT_MEMORY_LIMIT = '512Mi';

const cpu = (fallback: string, description: string) =>
  Type.String({
    pattern: '^([1-9][0-9]*m|[1-9][0-9]*(\\.[0-9]{1,3})?|0\\.[0-9]{1,3})$',
    default: fallback,
    description,
    [ALLOWED]: "an amount of CPU in quotes, such as '250m' or '1'",
  });

const memorySize = {
  pattern: MEMORY_SIZE_PATTERN,
  [ALLOWED]: 'a size such as 256Mi or 1Gi',
};

/** What a Pod may use. */
export const resources = Type.Object(
  {
    requests: Type.Object(
      {
        cpu: cpu('100m', 'CPU that the scheduler sets aside for a Pod.'),
        memory: Type.Optional(
          Type.String({ ...memorySize, description: "Memory that the scheduler sets aside; left out: the limit's." }),
        ),
      },
      { ...section, description: 'What the scheduler sets aside for a Pod.' },
    ),
    limits: Type.Object(
      {
        cpu: cpu('1', 'CPU beyond which a Pod is slowed down; the consumer runs JavaScript on one core.'),
        memory: Type.String({
          ...memorySize,
          default: DEFAULT_MEMORY_LIMIT,
          description: "Memory beyond which a Pod is killed; V8's heap and the memory alerts are computed from it.",
        }),
      },
      { ...section, description: 'What a Pod may use at most.' },
    ),
  },
  { ...section, description: 'What a Pod may use.' },
);

interface ResourcesPart {
  readonly resources: Static<typeof resources>;
}

/**
 * Measured: 240 partitions with 300 MiB waiting take 137 MiB at most under this limit. Under 128Mi they take 124, too
 * close to the end.
 */
export const SMALLEST_MEMORY_LIMIT = '160Mi';

const millicores = (cpu: string): number =>
  cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Math.round(Number(cpu) * 1_000);

const memoryHoldsHeap: Rule<ResourcesPart> = {
  reads: ['resources.limits.memory'],
  find: ({ resources: { limits } }) =>
    problemIf(memoryBytes(limits.memory) < memoryBytes(SMALLEST_MEMORY_LIMIT), {
      path: 'resources.limits.memory',
      message: 'is too small for the consumer',
      given: limits.memory,
      allowed: `at least ${SMALLEST_MEMORY_LIMIT}`,
    }),
};

const memoryRequestFits: Rule<ResourcesPart> = {
  reads: ['resources.requests.memory', 'resources.limits.memory'],
  find: ({ resources: { requests, limits } }) =>
    problemIf(memoryBytes(requests.memory ?? limits.memory) > memoryBytes(limits.memory), {
      path: 'resources.requests.memory',
      message: 'is above the limit, which Kubernetes refuses',
      given: requests.memory,
      allowed: `at most resources.limits.memory (${limits.memory}), or nothing: then it is the limit`,
    }),
};

const cpuRequestFits: Rule<ResourcesPart> = {
  reads: ['resources.requests.cpu', 'resources.limits.cpu'],
  find: ({ resources: { requests, limits } }) =>
    problemIf(millicores(requests.cpu) > millicores(limits.cpu), {
      path: 'resources.requests.cpu',
      message: 'is above the limit, which Kubernetes refuses',
      given: requests.cpu,
      allowed: `at most resources.limits.cpu (${limits.cpu})`,
    }),
};

/** What the schema cannot say of memory and CPU. */
export const RESOURCE_RULES: readonly Rule<ResourcesPart>[] = [memoryHoldsHeap, memoryRequestFits, cpuRequestFits];
