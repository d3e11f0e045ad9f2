import { THREAD_STATES, type ThreadState } from '../../contract/metric-labels.ts';
import { type MetricSources, optional } from './metric-source.ts';
import { oncePerScrape } from './once-per-scrape.ts';
import { openFilesLimit, type ProcessStatus, processStatus } from './process-status.ts';

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

/** Figures that only the operating system has; without series where there is no `/proc`. */
export function operatingSystemSources(read: () => ProcessStatus | null = processStatus): OperatingSystemMetrics {
  const seen = new Set<string>();
  let peak = 0;
  const status = oncePerScrape(() => {
    const known = read();
    const { threads = [] } = known ?? {};
    peak = Math.max(peak, threads.length);
    for (const { id } of threads) {
      seen.add(id);
    }
    return known;
  });
  const figure = (of: (known: ProcessStatus) => number) =>
    optional(() => {
      const known = status();
      return known === null ? null : of(known);
    });
  return {
    processMemoryRss: figure(({ residentMemory }) => residentMemory),
    processMemoryVss: figure(({ virtualMemory }) => virtualMemory),
    processMemorySwap: figure(({ swappedMemory }) => swappedMemory),
    processThreads: figure(({ threads }) => threads.length),
    filesOpen: figure(({ openFiles }) => openFiles),
    filesMax: optional(openFilesLimit),
    threadsLive: figure(({ threads }) => threads.length),
    threadsDaemon: figure(({ threads }) => Math.max(0, threads.length - 1)),
    threadsPeak: figure(() => peak),
    threadsStarted: figure(() => seen.size),
    threadsStates: () => {
      const { threads = [] } = status() ?? {};
      const count = (state: ThreadState) => threads.filter((thread) => (STATE[thread.state] ?? 'runnable') === state);
      return threads.length === 0 ? [] : stateLabels.map((labels) => ({ labels, value: count(labels.state).length }));
    },
  };
}
