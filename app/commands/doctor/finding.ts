import { setTimeout as delay } from 'node:timers/promises';
import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { FatalError, OutageError } from '../../stream/ports/stream-errors.ts';

/**
 * What was found.
 *
 * - `ok`: the consumer can use it
 * - `warning`: the consumer can use it, and somebody should look at it
 * - `away`: it does not answer, and may later; the consumer waits for it
 * - `wrong`: somebody has to change something
 * - `skipped`: it could not be looked at, for a reason that another line has
 */
export type FindingStatus = 'ok' | 'warning' | 'away' | 'wrong' | 'skipped';

/** The parts of the page, in its order. */
export const AREAS = ['settings', 'Kafka', 'PostgreSQL', 'schema registry', 'management port'] as const;

type Area = (typeof AREAS)[number];

/** One thing that was looked at. */
export interface Subject {
  readonly area: Area;
  /** What kind of thing it is, such as `topic`. */
  readonly check: string;
  /** Which one, such as the topic's name; empty where there is only one. */
  readonly name: string;
}

/** A line of the page. */
export interface Finding extends Subject {
  readonly status: FindingStatus;
  readonly message: string;
  /**
   * The code that a consumer with these settings ends with, at its start or later; of a warning, the code that a topic
   * waits with. Left out: none.
   */
  readonly code?: FatalError['code'];
  /** The statement, the command or the setting that mends it. Left out: the message has it, or nothing is wrong. */
  readonly mend?: string;
}

/** What is said of a subject. */
export type Said = Pick<Finding, 'message'> & Partial<Pick<Finding, 'mend' | 'code'>>;

const found =
  (status: FindingStatus) =>
  (subject: Subject, said: Said | string): Finding => ({
    ...subject,
    ...(typeof said === 'string' ? { message: said } : said),
    status,
  });

export const ok = found('ok');
export const warning = found('warning');
export const away = found('away');
export const wrong = found('wrong');
export const skipped = found('skipped');

/**
 * The finding for an error: an outage is away, a fatal error is wrong, by the code that ends a consumer.
 *
 * @throws the error itself where it is neither
 */
export function findingOf(subject: Subject, error: unknown): Finding {
  if (error instanceof OutageError) {
    return away(subject, error.message);
  }
  if (error instanceof FatalError && error.code !== 'UNEXPECTED') {
    return wrong(subject, { message: error.messageWithoutStart, code: error.code });
  }
  throw error;
}

/** What a check may take, in milliseconds: all of them together are done within three times this. */
export const LIMIT_MS = 10_000;

/** The words for what took longer. */
export const LATE = `no answer came within ${LIMIT_MS / 1_000} s`;

/** What the work comes to; `undefined` when it takes longer than a check may. */
export async function within<T>(work: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController();
  const late = delay(LIMIT_MS, undefined, { signal: timer.signal }).catch(() => undefined);
  // What fails after the time is over is no unhandled rejection.
  work.catch(() => undefined);
  return Promise.race([work, late]).finally(() => timer.abort());
}

/** The same for a finding: what takes too long is away. An error of the work is its finding. */
export async function inTime(subject: Subject, work: () => Promise<Finding>): Promise<Finding> {
  try {
    return (await within(work())) ?? away(subject, LATE);
  } catch (error) {
    return findingOf(subject, error);
  }
}

/** The exit code for all findings: what is wrong wins over what is away. */
export function exitCodeOf(findings: readonly Finding[], ignoresOutages: boolean): number {
  const has = (status: FindingStatus): boolean => findings.some((finding) => finding.status === status);
  if (has('wrong')) {
    return EXIT_CODE.configuration;
  }
  return has('away') && !ignoresOutages ? EXIT_CODE.failed : EXIT_CODE.ok;
}
