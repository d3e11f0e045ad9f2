import { arch, availableParallelism, release, type, userInfo } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { FastifyInstance } from 'fastify';
import type { ManagementEndpoint } from '../../contract/actuator.ts';
import { shortCommit } from '../../contract/build-info.ts';
import { LICENSE, PRODUCT_GROUP, PRODUCT_NAME } from '../../contract/identity.ts';
import { METRICS } from '../../contract/metrics.ts';
import type { Settings } from '../../settings/settings.ts';
import type { MetricReader } from '../metrics/exposition/metric-reading.ts';
import type { ProductBuild } from '../metrics/process/product-build.ts';
import { jsonRoute } from './actuator-route.ts';

/** What the info is made from. */
interface InfoSources {
  readonly settings: Pick<Settings, 'info' | 'management'>;
  readonly build: ProductBuild;
  readonly metrics: MetricReader;
}

/** Serves `info` of the settings, build, license, runtime and, where the settings ask for them, system and process. */
export function infoRoute(
  app: FastifyInstance,
  { infoPath }: ManagementEndpoint,
  { settings: { info, management }, build, metrics }: InfoSources,
): void {
  const known = {
    app: { name: PRODUCT_NAME, version: build.version, license: LICENSE.name },
    ...info,
    ...gitOf(build),
    build: {
      version: build.version,
      artifact: PRODUCT_NAME,
      license: LICENSE.name,
      name: PRODUCT_NAME,
      ...(build.time === undefined ? {} : { time: build.time }),
      group: PRODUCT_GROUP,
    },
    license: LICENSE,
    runtime: { name: 'Node.js', version: process.versions.node },
    ...(management.info.os.enabled && { os: { name: type(), version: release(), arch: javaArch(arch()) } }),
  };
  const processPart = () => (management.info.process.enabled ? { process: processInfo(metrics) } : {});
  jsonRoute(app, infoPath, () => ({ body: { ...known, ...processPart() } }));
}

/**
 * As Spring Boot shows it: the commit's id is its first seven digits. If files differed from the commit, `dirty` has
 * the text that the git-commit-id plugin writes.
 */
function gitOf({ branch, commit, commitTime, dirty }: ProductBuild): object {
  return commit === undefined
    ? {}
    : {
        git: {
          ...(branch !== undefined && { branch }),
          commit: { id: shortCommit(commit), ...(commitTime !== undefined && { time: commitTime }) },
          ...(dirty === true && { dirty: 'true' }),
        },
      };
}

const JAVA_ARCH: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'aarch64' };

/** The architecture by the name of the JVM's `os.arch`. */
const javaArch = (name: string): string => JAVA_ARCH[name] ?? name;

/** Memory in bytes as Java's MemoryUsage has it: -1 for an unknown value or no limit. */
interface MemoryInfo {
  readonly max: number;
  readonly init: number;
  readonly committed: number;
  readonly used: number;
}

/** The fields of Spring Boot's process info; `heap` is V8's, `nonHeap` the rest of the resident memory. */
function processInfo(metrics: MetricReader) {
  const heap = getHeapStatistics();
  const { rss } = process.memoryUsage();
  const rest = Math.max(0, rss - heap.total_physical_size);
  return {
    pid: process.pid,
    parentPid: process.ppid,
    owner: owner(),
    cpus: availableParallelism(),
    memory: {
      heap: memory(heap.heap_size_limit, heap.total_heap_size, heap.used_heap_size),
      nonHeap: memory(-1, rest, rest),
      garbageCollectors: garbageCollectors(metrics),
    },
  };
}

const memory = (max: number, committed: number, used: number): MemoryInfo => ({ max, init: -1, committed, used });

const GC_PAUSE = METRICS.gcPause.name;

function garbageCollectors(metrics: MetricReader): readonly { name: string; collectionCount: number }[] {
  const tags = metrics.read(GC_PAUSE, [])?.availableTags ?? [];
  const names = tags.find(({ tag }) => tag === 'gc')?.values ?? [];
  return names.map((name) => {
    const count = metrics.read(GC_PAUSE, [['gc', name]])?.measurements.find(({ statistic }) => statistic === 'COUNT');
    return { name, collectionCount: count?.value ?? 0 };
  });
}

/** The user's name, else the uid: a container's user may have no name. */
function owner(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? '');
  }
}
