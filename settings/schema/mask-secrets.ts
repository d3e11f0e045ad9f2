import { distance } from 'fastest-levenshtein';
import { plainName } from './problem.ts';
import { childSchema, type SchemaNode } from './schema.ts';
import { MASK, shownKey, shownText } from './shown-value.ts';

const SECRET_WORDS = 'pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|api[-_]?key|authorization';

/** What follows a name that says secret: `password=...`, `"token": "..."`, `Authorization: Bearer ...`. */
const SECRET_PARAMETER = new RegExp(
  `((?:${SECRET_WORDS})[\\w-]{0,16}["']?\\s{0,8}(?:=|:)\\s{0,8})((?:bearer|basic)\\s+)?("[^"]*"|'[^']*'|[^\\s,;&"']+)`,
  'gi',
);
const SCHEME = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi;
const PEM = /-----BEGIN [\s\S]*?(?:-----END [^-]*-----|$)/g;

/** A port, or nothing, between the host's colon and what follows it. */
const PORT = /^\d{0,5}(?:$|[/?#,;)"'\]}|>]|[.:]$)/;

/** A word without the password in it: `scheme://user:password@host`, `user:password@host`, and what is left of them. */
function maskWord(word: string): string {
  const slashes = word.indexOf('://');
  const start = slashes < 0 ? 0 : slashes + 3;
  const colon = word.indexOf(':', start);
  const at = word.lastIndexOf('@');
  if (colon < 0) {
    return word;
  }
  if (at > colon && (slashes >= 0 || at > colon + 1)) {
    return `${word.slice(0, colon + 1)}${MASK}${word.slice(at)}`;
  }
  const isHost =
    slashes < 0 || word[start] === '[' || PORT.test(word.slice(colon + 1)) || /[/?#]/.test(word.slice(start, colon));
  return isHost ? word : `${word.slice(0, colon + 1)}${MASK}`;
}

/** Whether a text is beyond doubt a URL, with no part of a password elsewhere than in a password's place. */
export const isPlainUrl = (text: string): boolean => plainUrl(text) !== undefined;

/**
 * The text with the secrets in it masked: passwords of users before an @, what follows `password=` and its like,
 * tokens of HTTP's Authorization, and PEM.
 */
export function maskText(text: string): string {
  return text
    .replace(PEM, MASK)
    .replace(/\S+/g, maskWord)
    .replace(SECRET_PARAMETER, `$1${MASK}`)
    .replace(SCHEME, `$1 ${MASK}`);
}

/** Parameters of libpq, and of pg, that show nothing secret. */
const OPEN_PARAMETERS: ReadonlySet<string> = new Set(
  `application_name channel_binding client_encoding connect_timeout dbname host hostaddr keepalives port ssl sslcert sslkey
  sslmode sslrootcert target_session_attrs uselibpqcompat user`.split(/\s+/),
);

const SECRET_PARAMETERS = ['password', 'sslpassword', 'token'];

/**
 * The URL that a text is beyond doubt: an @ behind the host is the rest of a password that was not percent-encoded, and
 * an = before the question mark belongs to parameters that lost theirs.
 */
function plainUrl(text: string): URL | undefined {
  const url = URL.canParse(text) && !/\s/.test(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && url.host !== '' && !/[=&]/.test(url.host + url.pathname);
  return isPlain && !(url.pathname + url.search + url.hash).includes('@') ? url : undefined;
}

/** A URL of several hosts, as libpq has them: what is before them, they, and what follows them. */
const SEVERAL_HOSTS = /^([^/?#@]*:\/\/(?:[^/?#]*@)?)([^/?#@,]+(?:,[^/?#@,]+)+)(.*)$/s;

/**
 * Where only some have a port, what is there may be `user:password` without an @, and the password may have a
 * comma.
 */
const HOSTS = /^(?:[\w.-]+|\[[\da-f:.]+\])(?:,(?:[\w.-]+|\[[\da-f:.]+\]))+$/i;
const HOSTS_WITH_PORTS = /^(?:[\w.-]+|\[[\da-f:.]+\]):\d{1,5}(?:,(?:[\w.-]+|\[[\da-f:.]+\]):\d{1,5})+$/i;

/**
 * A URL without what must not be shown, as {@link maskOneHost} says; hosts, where they are several, are shown when they
 * are hosts beyond doubt.
 */
export function maskUrl(text: string): string {
  const [, before = '', hosts = '', after = ''] = SEVERAL_HOSTS.exec(text) ?? [];
  if (!HOSTS.test(hosts) && !HOSTS_WITH_PORTS.test(hosts)) {
    return maskOneHost(text);
  }
  const masked = maskOneHost(`${before}host${after}`);
  return masked === MASK ? MASK : masked.replace(/^([^/]*:\/\/(?:[^/?#]*@)?)host/, (_all, start) => `${start}${hosts}`);
}

/**
 * A URL without what must not be shown: its password, a user that may be one, and parameters but for the well-known
 * ones that are none. A text that is not a URL with a host is masked as a whole, since no part of it is known for what
 * it is.
 */
function maskOneHost(text: string): string {
  const url = plainUrl(text);
  if (url === undefined) {
    return MASK;
  }
  const parameters = [...url.searchParams]
    .filter(([name, value]) => !OPEN_PARAMETERS.has(name) || value.includes('='))
    .map(([name]) => name);
  const isOpenUser = url.username === '' || shownText(url.username) === url.username;
  if (url.password === '' && isOpenUser && parameters.length === 0 && url.hash === '') {
    return text;
  }
  url.username = isOpenUser ? url.username : MASK;
  url.password = url.password === '' ? '' : MASK;
  url.hash = url.hash === '' ? '' : MASK;
  const names = [...new Set(parameters)].map((name) => [name, shownKey(name, SECRET_PARAMETERS)] as const);
  for (const [name, shown] of names) {
    url.searchParams.delete(name);
    url.searchParams.set(shown, MASK);
  }
  return url.href;
}

/** Whether the schema marks a secret at this place or below it. */
export function holdsSecret(node: SchemaNode): boolean {
  return (
    (node['x-secret'] ?? false) !== false ||
    [
      ...Object.values(node.properties ?? {}),
      ...Object.values(node.patternProperties ?? {}),
      ...(node.anyOf ?? []),
      ...(node.items === undefined ? [] : [node.items]),
    ].some(holdsSecret)
  );
}

/** Names under which a secret is where names are free. */
const SECRET_NAMES = ['password', 'passphrase', 'secret', 'token', 'credential', 'username', 'apikey', 'privatekey'];

/** @param key a free name, which may be mistyped */
function namesSecret(key: string): boolean {
  const plain = plainName(key);
  return SECRET_NAMES.some((name) => plain.includes(name) || (plain.length <= 20 && distance(plain, name) <= 2));
}

/** A word of prose, which is longer than what a refused value is shown with. */
const PROSE = /^[A-Z]?[a-z]{1,13}$/;

function isPlainWord(word: string): boolean {
  const bare = word.replace(/[.,;!?]$/, '');
  return PROSE.test(bare) || shownText(bare) === bare;
}

/**
 * A text that the schema takes where it expects no secret. What a slip made of several lines has blanks in it, so such
 * a text is shown only when all its words are plain ones.
 */
function maskTaken(text: string): string {
  return /\s/.test(text) && !text.split(/\s+/).every(isPlainWord) ? MASK : maskText(text);
}

/** What is written where anything may be, such as below `info`. */
function maskFree(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(maskFree);
  }
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'string' ? maskTaken(value) : value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [maskTaken(key), namesSecret(key) ? MASK : maskFree(item)]),
  );
}

function maskLeaf(node: SchemaNode, value: unknown): unknown {
  if (node['x-secret'] === 'url' && typeof value === 'string') {
    return maskUrl(value);
  }
  return holdsSecret(node) ? MASK : maskFree(value);
}

function maskEntry(node: SchemaNode, key: string, value: unknown): [string, unknown] {
  const schema = childSchema(node, key);
  const isNamed = Object.hasOwn(node.properties ?? {}, key);
  const isMasked = schema === undefined || (!isNamed && namesSecret(key));
  return [isNamed ? key : maskTaken(key), isMasked ? MASK : maskSecrets(schema, value)];
}

/**
 * A copy of a value with the secrets masked that its schema marks. What is written where the schema expects a section
 * with a secret inside, and what is written at a key the schema does not know, is masked too: it may be a secret at the
 * wrong place. So is, at any other place, what looks like one, and what has a free name that says so.
 */
export function maskSecrets(node: SchemaNode, value: unknown): unknown {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isMap && (node.properties !== undefined || node.patternProperties !== undefined)) {
    return Object.fromEntries(Object.entries(value).map(([key, child]) => maskEntry(node, key, child)));
  }
  const { items } = node;
  if (Array.isArray(value) && items !== undefined) {
    return value.map((item) => maskSecrets(items, item));
  }
  return maskLeaf(node, value);
}
