import { THREAD_STATES, type ThreadState } from '../../contract/metrics/definition.ts';
import { type MetricSources, optional, type Sample } from './metric-source.ts';
import { oncePerScrape } from './once-per-scrape.ts';
import {
  openFilesLimit,
  type ProcessStatus,
  processStatus,
  type ThreadStatus,
  threadStatuses,
} from './process-status.ts';

type OperatingSystemMetrics = Pick<
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

/** Linux's letters; what is in none of them runs. */
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

/** What the operating system is asked. */
interface Readings {
  readonly status: () => ProcessStatus | null;
  readonly threads: () => readonly ThreadStatus[];
}

/** Figures that only the operating system has; without series where there is no `/proc`. */
export function operatingSystemSources(
  readings: Readings = { status: processStatus, threads: threadStatuses },
): OperatingSystemMetrics {
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
