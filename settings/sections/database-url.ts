import type { Rule } from '../schema/check.ts';
import { isPlainUrl } from '../schema/mask-secrets.ts';
import { nearestKey, type Problem, problemIf } from '../schema/problem.ts';
import { MASK, shownKey } from '../schema/shown-value.ts';

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
  channel_binding: oneOf('disable', 'prefer', 'require'),
  target_session_attrs: oneOf('any', 'read-write', 'primary'),
  host: {
    allowed: 'one host; several go before the path: postgresql://user@a:5432,b:5432/database',
    values: [],
    isRight: (value) => /^[^,]+$/.test(value),
  },
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
    ...['require_auth', 'requirepeer', 'requiressl'],
  ),
  ...insteadOf(
    'a URL without it: the limits of Node.js hold for TLS, and lists of revoked certificates are not read',
    ...['sslcrl', 'sslcrldir', 'ssl_min_protocol_version', 'ssl_max_protocol_version', 'sslcompression', 'sslsni'],
    ...['sslcertmode', 'sslkeylogfile'],
  ),
  ...insteadOf('sslkey with a key that is not encrypted', 'sslpassword'),
  ...insteadOf('a URL without it: GSSAPI is not spoken', 'gssencmode', 'gsslib', 'gssdelegation', 'krbsrvname'),
  ...insteadOf('the hosts in the order in which they are tried', 'load_balance_hosts'),
  ...insteadOf('the address in the place of the host', 'hostaddr'),
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

/** A name that is no part of a password: of a text with a stray @ or ?, the rest of one may be in its place. */
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

/** Whether the URL's parameters ask for TLS; null where they say nothing of it. `sslmode` wins over `ssl`. */
export function asksForTls(parameters: URLSearchParams): boolean | null {
  const mode = parameters.get('sslmode');
  if (mode !== null) {
    return mode !== 'disable';
  }
  if (['sslrootcert', 'sslcert', 'sslkey'].some((name) => parameters.has(name))) {
    return true;
  }
  if (parameters.has('ssl')) {
    return parameters.get('ssl') !== '0';
  }
  return parameters.get('sslnegotiation') === 'direct' ? true : null;
}

/** What contradicts itself, or pg refuses without a word that a user would understand. */
function togetherProblems(parameters: URLSearchParams, hosts: number): readonly Problem[] {
  return [
    ...problemIf(
      parameters.get('sslnegotiation') === 'direct' && asksForTls(parameters) === false,
      problem('has sslnegotiation=direct and no TLS', 'sslnegotiation=direct with sslmode=verify-full'),
    ),
    ...problemIf(
      hosts > 1 && (parameters.has('host') || parameters.has('port')),
      problem('has several hosts, and host or port as a parameter', 'postgresql://user@a:5432,b:5432/database'),
    ),
  ];
}

/** The same of the URL and `database.tls`. */
function tlsProblems(parameters: URLSearchParams, tls: TlsPart | undefined): readonly Problem[] {
  const mode = parameters.get('sslmode');
  const isCompatible = parameters.get('uselibpqcompat') === 'true';
  const hasAuthority = parameters.has('sslrootcert') || tls?.ca !== undefined;
  const asks = asksForTls(parameters);
  return [
    ...problemIf(
      isCompatible && mode === 'verify-ca' && !hasAuthority,
      problem('has sslmode=verify-ca and no sslrootcert', 'sslrootcert beside it, or sslmode=verify-full'),
    ),
    ...problemIf(
      parameters.get('channel_binding') === 'require' && (asks ?? tls !== undefined) === false,
      problem('has channel_binding=require and no TLS', 'channel_binding=require with sslmode=verify-full'),
    ),
    ...problemIf(
      tls !== undefined && asks === false,
      problem('asks for no TLS beside database.tls', 'sslmode=verify-full, or no database.tls'),
    ),
    ...problemIf(
      tls?.ca !== undefined && mode === 'no-verify',
      problem('has sslmode=no-verify beside database.tls.ca', 'sslmode=verify-full, or no database.tls.ca'),
    ),
  ];
}

/**
 * What is before the hosts, the hosts, and what follows them; an @ in front of the last one belongs to the
 * password.
 */
const AUTHORITY = /^([^/?#]*:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s;

/** One URL for each of several hosts, as libpq writes them: `user@a:5432,b:5432`. */
function apart(text: string): string[] {
  const [, before = '', hosts = '', after = ''] = AUTHORITY.exec(text) ?? [];
  const names = hosts.split(',');
  if (names.length > 1 && names.some((name) => /^(:|$)/.test(name))) {
    throw new TypeError('a host is empty');
  }
  return names.length === 1 ? [text] : names.map((name) => `${before}${name}${after}`);
}

/**
 * The URL that pg-connection-string 2.14 makes of a text, one for each host: a text with a blank, or with a % that
 * begins no code, is encoded first. Of another reading the parameters could be others than those that are followed.
 *
 * An @ behind the first slash, or a #, is the rest of a password that was not encoded: what precedes it would be looked
 * up as a host, and shown as one.
 *
 * @returns the hosts in their order, which differ in nothing else; none where the text is no URL, one of its parts is
 * encoded wrongly, or a part of the password is elsewhere
 */
export function readDatabaseUrl(text: string): readonly URL[] {
  try {
    const isRaw = / |%[^a-f0-9]|%[a-f0-9][^a-f0-9]/i.test(text);
    const urls = apart(isRaw ? encodeURI(text).replace(/%25(\d\d)/g, '%$1') : text).map((one) => new URL(one));
    for (const url of urls) {
      for (const part of [url.username, url.password, url.hostname, url.pathname]) {
        decodeURIComponent(part);
      }
    }
    return urls.some(({ pathname, href }) => pathname.includes('@') || href.includes('#')) ? [] : urls;
  } catch {
    return [];
  }
}

interface TlsPart {
  readonly ca?: string;
}

interface UrlPart {
  readonly database: { readonly url: string; readonly tls?: TlsPart };
}

const isUrl: Rule<UrlPart> = {
  reads: [PATH],
  find: ({ database: { url } }) =>
    readDatabaseUrl(url).length > 0
      ? []
      : [
          {
            path: PATH,
            message: 'is not a URL',
            given: MASK,
            allowed:
              'postgresql://user:password@host:port/database, with a port up to 65535. Special characters of user and password are percent-encoded (% as %25, @ as %40, # as %23, / as %2F), and so is an @ in the name of the database',
          },
        ],
};

/** What is wrong with the URL's parameters one by one. */
function eachParameter(url: string, parameters: URLSearchParams): readonly Problem[] {
  const names = [...new Set(parameters.keys())];
  return names.flatMap((name) => parameterProblems(name, parameters.getAll(name), url));
}

/** pg takes whatever it does not know for nothing: a misspelt sslmode would connect without TLS. */
const parametersAreKnown: Rule<UrlPart> = {
  reads: [PATH],
  find: ({ database: { url } }) => {
    const urls = readDatabaseUrl(url);
    const { searchParams } = urls[0] ?? {};
    if (searchParams === undefined) {
      return [];
    }
    const problems = eachParameter(url, searchParams);
    return problems.length > 0 ? problems : togetherProblems(searchParams, urls.length);
  },
};

const parametersFitTls: Rule<UrlPart> = {
  reads: [PATH, 'database.tls.ca'],
  find: ({ database: { url, tls } }) => {
    const { searchParams } = readDatabaseUrl(url)[0] ?? {};
    const isKnown = searchParams !== undefined && eachParameter(url, searchParams).length === 0;
    return isKnown ? tlsProblems(searchParams, tls) : [];
  },
};

/** What must hold for the database's URL; of a file that it names only the name is looked at. */
export const DATABASE_URL_RULES: readonly Rule<UrlPart>[] = [isUrl, parametersAreKnown, parametersFitTls];
