/** File beside `package.json` that the image's build writes; an installation from the sources has none. */
export const BUILD_INFO_FILE = 'build-info.json';

/** What {@link BUILD_INFO_FILE} holds: what only the build knows. Everything may be missing, and is not shown then. */
export interface BuildInfo {
  /** When it was built, as ISO 8601 in UTC. */
  readonly time?: string;
  /** The commit it was built from: 7 to 64 hexadecimal digits. */
  readonly commit?: string;
  /** When that commit was made, as ISO 8601. */
  readonly commitTime?: string;
  /** The branch it was built from. */
  readonly branch?: string;
  /** Whether files differed from the commit. */
  readonly dirty?: boolean;
}

/** A commit as `/actuator/info` and `consumer_build_info` show it: by seven digits, as Spring Boot does. */
export const shortCommit = (commit: string): string => commit.slice(0, 7);

const COMMIT = /^[0-9a-f]{7,64}$/i;

const isTime = (value: unknown): value is string => typeof value === 'string' && !Number.isNaN(Date.parse(value));

const isCommit = (value: unknown): value is string => typeof value === 'string' && COMMIT.test(value);

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** What is known of a build out of what was written about it; parts that are not what they should be are left out. */
export function buildInfoOf(written: unknown): BuildInfo {
  const { time, commit, commitTime, branch, dirty } = (written ?? {}) as Partial<Record<keyof BuildInfo, unknown>>;
  return {
    ...(isTime(time) && { time: new Date(time).toISOString() }),
    ...(isCommit(commit) && { commit }),
    ...(isTime(commitTime) && { commitTime: new Date(commitTime).toISOString() }),
    ...(isText(branch) && { branch }),
    ...(typeof dirty === 'boolean' && { dirty }),
  };
}
