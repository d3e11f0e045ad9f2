import type { Rule } from './check.ts';
import { isPlainUrl } from './mask-secrets.ts';
import { nearestKey, type Problem } from './problem.ts';
import { MASK, shownKey } from './shown-value.ts';

const PATH = 'database.url';

interface Parameter {
  readonly allowed: string;
  /** The values there are, where they can be listed. */
  readonly values: readonly string[];
  readonly isRight: (value: string) => boolean;
}

const oneOf = (...values: readonly string[]): Parameter => ({
  allowed: `one of ${values.join(', ')}`,
  values,
  isRight: (value) => values.includes(value),
});

const text: Parameter = { allowed: 'a text that is not empty', values: [], isRight: (value) => value !== '' };

const port: Parameter = {
  allowed: 'a whole number from 1 to 65535',
  values: [],
  isRight: (value) => /^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535,
};

/** What a URL may say behind its question mark, which pg then does. */
export const URL_PARAMETERS: Readonly<Record<string, Parameter>> = {
  sslmode: oneOf('disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'),
  sslrootcert: text,
  sslcert: text,
  sslkey: text,
  sslnegotiation: oneOf('postgres', 'direct'),
  ssl: oneOf('true', '1', '0'),
  uselibpqcompat: oneOf('true', 'false'),
  host: text,
  port,
  user: text,
  password: text,
  options: text,
};

const insteadOf = (allowed: string, ...names: readonly string[]) => names.map((name) => [name, allowed] as const);

/** What libpq or pg know and the consumer's sessions would not do, with what to say instead. */
export const UNFOLLOWED_PARAMETERS: Readonly<Record<string, string>> = Object.fromEntries([
  ...insteadOf(
    'sslmode=verify-full, which proves the server by its certificate',
    ...['channel_binding', 'require_auth', 'requirepeer', 'requiressl'],
  ),
  ...insteadOf(
    'a URL without it: the limits of Node.js hold for TLS, and lists of revoked certificates are not read',
    ...['sslcrl', 'sslcrldir', 'ssl_min_protocol_version', 'ssl_max_protocol_version', 'sslcompression', 'sslsni'],
    ...['sslcertmode', 'sslkeylogfile'],
  ),
  ...insteadOf('sslkey with a key that is not encrypted', 'sslpassword'),
  ...insteadOf('a URL without it: GSSAPI is not spoken', 'gssencmode', 'gsslib', 'gssdelegation', 'krbsrvname'),
  ...insteadOf(
    'one host, by a name that leads to the server that takes writes',
    ...['target_session_attrs', 'load_balance_hosts', 'hostaddr'],
  ),
  ...insteadOf('database.user and database.password', 'passfile', 'service', 'servicefile'),
  ...insteadOf('the name behind the host: postgresql://host:port/database', 'dbname', 'database'),
  ...insteadOf('database.connectTimeout', 'connect_timeout'),
  ...insteadOf(
    'database.statementTimeout, which the others follow',
    ...['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'query_timeout'],
  ),
  ...insteadOf(
    'a URL without it: silent connections are found and ended anyway',
    ...['keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count', 'tcp_user_timeout'],
  ),
  ...insteadOf(
    'a URL without it: sessions are called stream-consumer, those that write with the group behind it',
    ...['application_name', 'fallback_application_name'],
  ),
  ...insteadOf('a URL without it: every session is in UTF8', 'client_encoding'),
  ...insteadOf('a URL without it: sessions write rows', 'replication'),
]);

const problem = (message: string, allowed: string, nearest?: string): Problem => ({
  path: PATH,
  message,
  allowed,
  ...(nearest === undefined ? {} : { nearest }),
});

/** A name that is no part of a password: of a text with a stray @ or ?, the rest of one may stand at its place. */
const shownName = (name: string, url: string): string => {
  const isShown = isPlainUrl(url) && shownKey(name.toLowerCase(), Object.keys(URL_PARAMETERS)) !== MASK;
  return isShown ? ` ${name}` : '';
};

function unknownParameter(name: string, url: string): Problem {
  const known = Object.keys(URL_PARAMETERS);
  const nearest = nearestKey(name, known);
  return problem(`has an unknown parameter${shownName(name, url)}`, `one of ${known.join(', ')}`, nearest);
}

function parameterProblems(name: string, values: readonly string[], url: string): Problem[] {
  const instead = Object.hasOwn(UNFOLLOWED_PARAMETERS, name) ? UNFOLLOWED_PARAMETERS[name] : undefined;
  if (instead !== undefined) {
    return [problem(`has the parameter ${name}, which is not followed`, instead)];
  }
  const known = Object.hasOwn(URL_PARAMETERS, name) ? URL_PARAMETERS[name] : undefined;
  if (known === undefined) {
    return [unknownParameter(name, url)];
  }
  const [value = ''] = values;
  if (values.length > 1) {
    return [problem(`has the parameter ${name} more than once`, 'one of them')];
  }
  if (known.isRight(value)) {
    return [];
  }
  const nearest = nearestKey(value, known.values);
  const meant = nearest === undefined ? undefined : `${name}=${nearest}`;
  return [problem(`has a parameter ${name} with a value that is not known`, `for ${name}: ${known.allowed}`, meant)];
}

/** What pg refuses, without a word that a user would understand. */
function togetherProblems(parameters: URLSearchParams): Problem[] {
  const mode = parameters.get('sslmode');
  const hasNoTls = mode === 'disable' || (mode === null && parameters.get('ssl') === '0');
  if (parameters.get('sslnegotiation') === 'direct' && hasNoTls) {
    return [problem('has sslnegotiation=direct and no TLS', 'sslnegotiation=direct with sslmode=verify-full')];
  }
  const isCompatible = parameters.get('uselibpqcompat') === 'true';
  return isCompatible && mode === 'verify-ca' && !parameters.has('sslrootcert')
    ? [problem('has sslmode=verify-ca and no sslrootcert', 'sslrootcert beside it, or sslmode=verify-full')]
    : [];
}

/**
 * The URL that pg-connection-string 2.14 makes of a text: one with a blank, or with a % that begins no code, is encoded first.
 * Of another reading the parameters could be others than those that are followed.
 *
 * @returns undefined where there is none, or one of its parts is encoded wrongly
 */
export function readDatabaseUrl(text: string): URL | undefined {
  try {
    const isRaw = / |%[^a-f0-9]|%[a-f0-9][^a-f0-9]/i.test(text);
    const url = new URL(isRaw ? encodeURI(text).replace(/%25(\d\d)/g, '%$1') : text);
    for (const part of [url.username, url.password, url.hostname, url.pathname]) {
      decodeURIComponent(part);
    }
    return url;
  } catch {
    return undefined;
  }
}

interface UrlPart {
  readonly database: { readonly url: string };
}

const isUrl: Rule<UrlPart> = {
  reads: [PATH],
  find: ({ database: { url } }) =>
    readDatabaseUrl(url) !== undefined
      ? []
      : [
          {
            path: PATH,
            message: 'is not a URL',
            given: MASK,
            allowed:
              'postgresql://user:password@host:port/database, with a port up to 65535, and special characters of user and password percent-encoded (% as %25, @ as %40, # as %23, / as %2F)',
          },
        ],
};

/** pg takes whatever it does not know for nothing: a misspelt sslmode would connect without TLS. */
const parametersAreKnown: Rule<UrlPart> = {
  reads: [PATH],
  find: ({ database: { url } }) => {
    const { searchParams } = readDatabaseUrl(url) ?? {};
    if (searchParams === undefined) {
      return [];
    }
    const names = [...new Set(searchParams.keys())];
    const problems = names.flatMap((name) => parameterProblems(name, searchParams.getAll(name), url));
    return problems.length > 0 ? problems : togetherProblems(searchParams);
  },
};

/** What must hold for the database's URL; of a file that it names only the name is looked at. */
export const DATABASE_URL_RULES: readonly Rule<UrlPart>[] = [isUrl, parametersAreKnown];
