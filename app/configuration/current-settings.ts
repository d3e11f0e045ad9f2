import { isDeepStrictEqual } from 'node:util';
import { deepFreeze } from '../../settings/schema/check.ts';
import { isSection, valueAt } from '../../settings/schema/document.ts';
import { describeProblems } from '../../settings/schema/problem.ts';
import type { SchemaNode } from '../../settings/schema/schema.ts';
import { shownPath } from '../../settings/schema/shown-value.ts';
import { readDatabaseUrl } from '../../settings/sections/database-url.ts';
import { registryLogins, registryUrls } from '../../settings/sections/schema-registry.ts';
import { type Settings, SettingsSchema } from '../../settings/settings.ts';
import type { ClientCertificates } from '../credentials/certificates-in-use.ts';
import type { Logger } from '../logging/logger.ts';
import type { Clock } from '../stream/ports/clock.ts';
import type { LoadedSettings } from './load-settings.ts';

/**
 * The settings of the moment, for whatever opens a connection, logs in or compares a credential; client certificates
 * are PEM texts in them, not paths. Each call may read files, and its answer is not kept beyond one connection.
 */
export type CurrentSettings = () => Settings;

/** A request of the HTTP interface asks as well, and reading takes milliseconds. */
const READING_HOLDS_MS = 1_000;

/** Between two readings that nothing asked for: a change is logged before the next connection needs it. */
const WATCH_MS = 10_000;

/** Credentials and certificates: what a running process takes over. All else stays as it was at the start. */
const FOLLOWED: ReadonlySet<string> = new Set([
  'database.url',
  'database.user',
  'database.password',
  'database.tls',
  'kafka.sasl',
  'kafka.tls',
  'schemaRegistry.username',
  'schemaRegistry.password',
  'schemaRegistry.token',
  'schemaRegistry.oauth',
  'schemaRegistry.tls',
  'management.security',
  'spring.boot.admin.client.username',
  'spring.boot.admin.client.password',
]);

/** The URL without user and password, at both of their places. */
function urlWithoutLogin(text: string): string {
  const places = readDatabaseUrl(text).map((url) => {
    url.username = '';
    url.password = '';
    url.searchParams.delete('user');
    url.searchParams.delete('password');
    return url.href;
  });
  return places.length === 0 ? text : places.join();
}

/**
 * What credentials are for. Those that come together with another server or mechanism wait for the start with it. Where
 * the last one of the HTTP interface is gone, its file is probably lost: nobody means to open everything that way.
 */
const PURPOSES: Readonly<Record<string, (settings: Settings) => unknown>> = {
  database: ({ database }) => urlWithoutLogin(database.url),
  'kafka.sasl': ({ kafka }) => kafka.sasl?.mechanism,
  schemaRegistry: ({ schemaRegistry }) =>
    schemaRegistry && [...registryUrls(schemaRegistry), ...registryLogins(schemaRegistry)].join(' '),
  'management.security': ({ management }) => Object.keys(management.security).length > 0,
};

/** An error of this program at a setting: its message may hold any value, a secret too, so the path alone is kept. */
class SettingFault extends Error {
  constructor(path: string) {
    super(`${path} cannot be read or checked`);
  }
}

function isForTheSame(path: string, before: Settings, after: Settings): boolean {
  try {
    return PURPOSES[path]?.(before) === PURPOSES[path]?.(after);
  } catch {
    throw new SettingFault(path);
  }
}

/** The settings of the start, with those of the newest reading that are followed. */
function followed(start: Settings, newest: Settings): Settings {
  const kept = Object.keys(PURPOSES).filter((path) => !isForTheSame(path, start, newest));
  const merge = (before: unknown, after: unknown, path: string): unknown => {
    if (kept.includes(path)) {
      return before;
    }
    if (FOLLOWED.has(path)) {
      return after;
    }
    if (!(isSection(before) && isSection(after))) {
      return before;
    }
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    const merged = Array.from(keys, (key) => [
      key,
      merge(valueAt(before, [key]), valueAt(after, [key]), path === '' ? key : `${path}.${key}`),
    ]);
    return Object.fromEntries(merged.filter(([, value]) => value !== undefined));
  };
  return deepFreeze(merge(start, newest, '') as Settings);
}

/** The paths at which two documents differ, as messages may show them. */
function differences(before: unknown, after: unknown, path = ''): readonly string[] {
  if (isDeepStrictEqual(before, after)) {
    return [];
  }
  if (!(isSection(before) && isSection(after))) {
    return [shownPath(SettingsSchema as SchemaNode, path)];
  }
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Array.from(keys).flatMap((key) =>
    differences(valueAt(before, [key]), valueAt(after, [key]), path === '' ? key : `${path}.${key}`),
  );
}

/** The same of no setting in particular. */
const FAULT = 'the document cannot be read or checked';

/** What keeps a process of settings that change: how it reads them, and where it logs what it found. */
interface Rereading {
  /** Reads all sources anew; the environment of a process never changes. */
  readonly load: () => LoadedSettings;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly clock: Pick<Clock, 'steady'>;
  /** Puts the certificates of the moment in the place of their files. */
  readonly certificates: Pick<ClientCertificates, 'inlined'>;
}

/**
 * Follows the sources of the settings: credentials and certificates change while the process runs, at most one second
 * after the files did. A change of any other setting is logged once, for the next start. Settings that cannot be
 * read, or are wrong, are logged once; the last right ones stay.
 *
 * @param start the settings that the process was started with
 * @returns a function that reads the files when its last reading is older than a second. It never throws.
 */
export function followSettings(start: Settings, { load, logger, clock, certificates }: Rereading): CurrentSettings {
  let current = start;
  let complete = certificates.inlined(start);
  let readAt = clock.steady();
  let loggedProblems = '';
  let loggedForStart = '';

  function take(newest: Settings): void {
    const before = current;
    current = followed(start, newest);
    const taken = differences(before, current);
    if (taken.length > 0) {
      logger.info({ settings: taken }, 'settings changed: new connections and requests follow them');
    }
    const waiting = differences(current, newest);
    if (waiting.length > 0 && waiting.join() !== loggedForStart) {
      logger.warn({ settings: waiting }, 'settings changed that take effect at the next start');
    }
    loggedForStart = waiting.join();
  }

  function logProblems(problems: string): void {
    if (problems !== '' && problems !== loggedProblems) {
      logger.error({ reason: problems }, 'settings cannot be read again: those in use stay');
    }
    loggedProblems = problems;
  }

  function readAgain(): void {
    const loaded = load();
    if (loaded.ok) {
      take(loaded.value);
    }
    logProblems(loaded.ok ? '' : describeProblems(loaded.problems));
    complete = certificates.inlined(current);
  }

  return () => {
    const now = clock.steady();
    if (now.getTime() - readAt.getTime() >= READING_HOLDS_MS) {
      readAt = now;
      try {
        readAgain();
      } catch (error) {
        logProblems(error instanceof SettingFault ? error.message : FAULT);
      }
    }
    return complete;
  };
}

/** Reads the settings every 10 s until the signal is aborted. */
export async function watchSettings(current: CurrentSettings, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.wait(WATCH_MS, signal);
    current();
  }
}
