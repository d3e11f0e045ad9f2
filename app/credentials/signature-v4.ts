import { createHash, createHmac } from 'node:crypto';

/** Keys of an identity at AWS. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary keys alone. */
  readonly sessionToken?: string | undefined;
  /** When temporary keys end, in milliseconds since 1970; `Infinity` for lasting ones. */
  readonly expiresAt: number;
}

/** A login by password or token, and when it ends. */
export interface AwsToken {
  /** A secret: it is the login until it ends. */
  readonly value: string;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

/** What a token is made from beside what it is for. */
export interface Signing {
  readonly keys: AwsKeys;
  /** Region of the cluster or the database, as `eu-central-1`. */
  readonly region: string;
  /** The time of day in milliseconds since 1970. @default that of this process */
  readonly now?: number;
}

/** The longest that MSK and RDS take, in seconds. */
const EXPIRES_SECONDS = 900;

/** Hex SHA-256 of a body of no bytes: a presigned GET has none. */
const EMPTY_BODY = createHash('sha256').digest('hex');

/** Percent-encoding of RFC 3986, which `encodeURIComponent` leaves incomplete. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** Names in the order of their bytes, as AWS sorts them before it signs. */
const queryText = (query: Readonly<Record<string, string>>): string =>
  Object.entries(query)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join('&');

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/**
 * The query of a presigned GET of `https://<host>/`, by Signature Version 4 (IAM User Guide, "AWS Signature Version 4
 * for API requests"). AWS's own `@smithy/signature-v4` gives the same bytes, but makes the bundle 368 kB larger, this 3
 * kB.
 */
function presigned(
  { keys, region, now = Date.now() }: Signing,
  service: string,
  host: string,
  action: Readonly<Record<string, string>>,
  expires = EXPIRES_SECONDS,
): Record<string, string> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const scope = [time.slice(0, 8), region, service, 'aws4_request'];
  const query = {
    ...action,
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': [keys.accessKeyId, ...scope].join('/'),
    'X-Amz-Date': time,
    'X-Amz-Expires': String(expires),
    ...(keys.sessionToken === undefined ? {} : { 'X-Amz-Security-Token': keys.sessionToken }),
    'X-Amz-SignedHeaders': 'host',
  };
  const request = ['GET', '/', queryText(query), `host:${host}`, '', 'host', EMPTY_BODY].join('\n');
  const digest = createHash('sha256').update(request).digest('hex');
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${keys.secretAccessKey}`);
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, scope.join('/'), digest].join('\n')).toString('hex');
  return { ...query, 'X-Amz-Signature': signature };
}

/**
 * The token of MSK's IAM access control, for OAUTHBEARER: a presigned URL in base64url without padding. It holds for 15
 * minutes, or as long as the keys when they end sooner. The cluster's name is not in it, so one holds for all brokers.
 *
 * @param userAgent what MSK's log names as the client
 */
export function mskToken(signing: Signing, userAgent: string): AwsToken {
  const { keys, region, now = Date.now() } = signing;
  const seconds = Math.floor(Math.min(EXPIRES_SECONDS, (keys.expiresAt - now) / 1_000));
  const host = `kafka.${region}.amazonaws.com`;
  const query = presigned({ ...signing, now }, 'kafka-cluster', host, { Action: 'kafka-cluster:Connect' }, seconds);
  const url = `https://${host}/?${queryText({ ...query, 'User-Agent': userAgent })}`;
  return { value: Buffer.from(url).toString('base64url'), expiresAt: now + seconds * 1_000 };
}

/**
 * The password of RDS's and Aurora's IAM authentication: a presigned URL without its scheme. It holds for 15 minutes
 * for a login, or as long as the keys when they end sooner; a connection lives on. PostgreSQL takes it over TLS alone.
 *
 * @param database host as the server's own endpoint names it, since the signature is made for it, port and user
 */
export function rdsToken(
  signing: Signing,
  database: { readonly host: string; readonly port: number; readonly user: string },
): AwsToken {
  const { keys, now = Date.now() } = signing;
  const host = `${database.host}:${database.port}`;
  const query = presigned({ ...signing, now }, 'rds-db', host, { Action: 'connect', DBUser: database.user });
  const expiresAt = Math.min(now + EXPIRES_SECONDS * 1_000, keys.expiresAt);
  return { value: `${host}/?${queryText(query)}`, expiresAt };
}
