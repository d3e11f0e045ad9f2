import { readdirSync, readFileSync } from 'node:fs';
import { THREAD_STATES, type ThreadState } from '../../../contract/metrics/definition.ts';
import { type MetricSources, oncePerScrape, optional, type Sample } from '../exposition/metric-source.ts';

type ProcessStatusMetrics = Pick<
  MetricSources,
  | 'processMemoryRss'
  | 'processMemoryVss'
  | 'processMemorySwap'
  | 'processThreads'
  | 'filesOpen'
  | 'filesMax'
  | 'threadsLive'
  | 'threadsDaemon'
  | 'threadsPeak'
  | 'threadsStarted'
  | 'threadsStates'
>;

/** Linux's state letters; a thread in any other state counts as runnable. */
const STATE: Readonly<Record<string, ThreadState>> = {
  R: 'runnable',
  S: 'waiting',
  I: 'waiting',
  D: 'blocked',
  T: 'blocked',
  t: 'blocked',
  Z: 'terminated',
  X: 'terminated',
};

const stateLabels = THREAD_STATES.map((state) => ({ state }));

/** Readings of `/proc`. */
interface Readings {
  readonly status: () => ProcessStatus | null;
  readonly threads: () => readonly ThreadStatus[];
}

/** Memory, threads and open files as Linux counts them; without series where there is no `/proc`. */
export function processStatusSources(
  readings: Readings = { status: processStatus, threads: threadStatuses },
): ProcessStatusMetrics {
  const status = oncePerScrape(readings.status);
  const seen = new Set<string>();
  let peak = 0;
  const threads = oncePerScrape(() => {
    const known = readings.threads();
    peak = Math.max(peak, known.length);
    for (const { id } of known) {
      seen.add(id);
    }
    return known;
  });
  const figure = (of: (known: ProcessStatus) => number) =>
    optional(() => {
      const known = status();
      return known === null ? null : of(known);
    });
  const ofThreads = (of: (known: readonly ThreadStatus[]) => number) =>
    optional(() => {
      const known = threads();
      return known.length === 0 ? null : of(known);
    });
  return {
    processMemoryRss: figure(({ residentMemory }) => residentMemory),
    processMemoryVss: figure(({ virtualMemory }) => virtualMemory),
    processMemorySwap: figure(({ swappedMemory }) => swappedMemory),
    processThreads: ofThreads(({ length }) => length),
    filesOpen: figure(({ openFiles }) => openFiles),
    filesMax: optional(openFilesLimit),
    threadsLive: ofThreads(({ length }) => length),
    threadsDaemon: ofThreads(({ length }) => length - 1),
    threadsPeak: ofThreads(() => peak),
    threadsStarted: ofThreads(() => seen.size),
    threadsStates: () => (threads().length === 0 ? [] : byState(threads())),
  };
}

function byState(threads: readonly ThreadStatus[]): Sample[] {
  const count = (wanted: ThreadState) => threads.filter(({ state }) => (STATE[state] ?? 'runnable') === wanted).length;
  return stateLabels.map((labels) => ({ labels, value: count(labels.state) }));
}

/** A state letter of Linux (`man 5 proc`), such as `R` or `S`. */
interface ThreadStatus {
  readonly id: string;
  readonly state: string;
}

/** The process in `/proc`. */
export interface ProcessStatus {
  /** Bytes. */
  readonly virtualMemory: number;
  readonly residentMemory: number;
  readonly swappedMemory: number;
  readonly openFiles: number;
}

const KIBIBYTE = 1_024;

/** The present process; `null` on a system that has no `/proc`. */
function processStatus(): ProcessStatus | null {
  try {
    const status = readFileSync('/proc/self/status', 'latin1');
    const bytes = (field: string) =>
      Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * KIBIBYTE;
    return {
      virtualMemory: bytes('VmSize'),
      residentMemory: bytes('VmRSS'),
      swappedMemory: bytes('VmSwap'),
      openFiles: readdirSync('/proc/self/fd').length,
    };
  } catch {
    return null;
  }
}

/** Its threads; none on a system that has no `/proc`. */
function threadStatuses(): readonly ThreadStatus[] {
  try {
    return readdirSync('/proc/self/task').flatMap(threadStatus);
  } catch {
    return [];
  }
}

/** The most file descriptors that the process may open; `null` where `/proc` has no such limit. */
export function openFilesLimit(): number | null {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}

/** A thread may end between being listed and being read. */
function threadStatus(id: string): ThreadStatus[] {
  try {
    const state = /\) (\S) /.exec(readFileSync(`/proc/self/task/${id}/stat`, 'latin1'))?.[1];
    return state === undefined ? [] : [{ id, state }];
  } catch {
    return [];
  }
}
