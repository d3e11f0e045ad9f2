import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { rdsToken } from '../../../app/credentials/signature-v4.ts';
import { databaseHosts, openConnection } from '../../../app/store/connection/database-connection.ts';
import { DatabasePool } from '../../../app/store/connection/database-pool.ts';
import { checkedSettings } from '../../settings/checked-settings.ts';
import { query } from '../stack/database.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { type TestAuthority, testAuthority } from '../stack/test-authority.ts';
import { clientCertificate, pemFiles, startTlsPostgres, type TlsPostgres } from '../stack/tls-postgres.ts';

type Tls = { readonly ca?: string; readonly certificate?: string; readonly privateKey?: string };

let server: TlsPostgres;
let expired: TlsPostgres;
let stranger: TestAuthority;

beforeAll(async () => {
  [server, expired, stranger] = await Promise.all([
    startTlsPostgres(),
    startTlsPostgres({ expired: true }),
    testAuthority('an authority that nobody knows'),
  ]);
});

function settingsOf(url: string, tls?: Tls, more: Readonly<Record<string, unknown>> = {}) {
  return checkedSettings({ database: { url, ...(tls && { tls }), ...more } }).database;
}

/** The mechanism that a login with SCRAM chooses. */
async function mechanism(config: pg.ClientConfig | undefined): Promise<string | undefined> {
  const client = new pg.Client(config);
  let chosen: string | undefined;
  const internals = client as unknown as { connection: pg.Connection; saslSession?: { mechanism: string } };
  internals.connection.on('authenticationSASLContinue', () => {
    chosen = internals.saslSession?.mechanism;
  });
  await client.connect();
  await client.end();
  return chosen;
}

/** What a connection with these settings says of itself, or the error's words. */
async function connected(url: string, tls?: Tls): Promise<string> {
  const pool = new DatabasePool(settingsOf(url, tls), () => undefined);
  try {
    return await pool.withClient(async (client) => {
      const { rows } = await client.query(
        'SELECT ssl, current_user AS name FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
      );
      return `${rows[0].name} ${rows[0].ssl ? 'with TLS' : 'without TLS'}`;
    });
  } catch (error) {
    return `${(error as { code?: string }).code ?? 'OUTAGE'}: ${(error as Error).message}`;
  } finally {
    await pool.close();
  }
}

const MODES = ['verify-full', 'verify-ca', 'require', 'prefer', 'no-verify'] as const;
const COMPATIBLE = ['verify-full', 'verify-ca', 'require', 'prefer'].map((mode) => `${mode}&uselibpqcompat=true`);
type Outcome = 'in' | 'authority' | 'name' | 'expired' | 'off';

const WORDS: Readonly<Record<Outcome, RegExp>> = {
  in: /^postgres with TLS$/,
  authority: /^DATABASE_REFUSED: .*(self-signed certificate in certificate chain|unable to verify).*database\.tls\.ca/,
  name: /^DATABASE_REFUSED: .*does not match certificate's altnames.*host in database\.url/,
  expired: /^DATABASE_REFUSED: .*certificate has expired.*has to be renewed/,
  off: /^DATABASE_REFUSED: .*does not support SSL.*ssl = on/,
};

/** By mode: with the right authority; another one; no authority; another host; an expired certificate; no TLS there. */
const TABLE: Readonly<Record<string, readonly Outcome[]>> = {
  'verify-full': ['in', 'authority', 'authority', 'name', 'expired', 'off'],
  'verify-ca': ['in', 'authority', 'authority', 'name', 'expired', 'off'],
  require: ['in', 'authority', 'authority', 'name', 'expired', 'off'],
  prefer: ['in', 'authority', 'authority', 'name', 'expired', 'off'],
  'no-verify': ['in', 'in', 'in', 'in', 'in', 'off'],
  'verify-full&uselibpqcompat=true': ['in', 'authority', 'authority', 'name', 'expired', 'off'],
  'verify-ca&uselibpqcompat=true': ['in', 'authority', 'authority', 'in', 'expired', 'off'],
  'require&uselibpqcompat=true': ['in', 'authority', 'in', 'in', 'expired', 'off'],
  'prefer&uselibpqcompat=true': ['in', 'in', 'in', 'in', 'in', 'off'],
};

test.each([...MODES, ...COMPATIBLE])('sslmode=%s lets in and refuses what the table says', async (mode) => {
  const { ca } = await pemFiles({ ca: server.authority.ca });
  const { other, late } = await pemFiles({ other: stranger.ca, late: expired.authority.ca });
  const parameters = (file: string) => `sslmode=${mode}&sslrootcert=${file}`;
  const login = (postgres: TlsPostgres) => `postgres:${postgres.postgres.password}`;
  const isBare = mode === 'verify-ca&uselibpqcompat=true';
  const found = [
    await connected(server.url(login(server), parameters(ca))),
    await connected(server.url(login(server), parameters(other))),
    isBare
      ? await connected(server.url(login(server), parameters(other)))
      : await connected(server.url(login(server), `sslmode=${mode}`)),
    await connected(server.url(login(server), parameters(ca), '127.0.0.1')),
    await connected(expired.url(login(expired), parameters(late))),
    await connected(`${sharedDatabaseUrl()}?${parameters(ca)}`),
  ];
  const wanted = (TABLE[mode] ?? []).map((outcome) => expect.stringMatching(WORDS[outcome]));
  expect(found).toEqual(wanted);
});

describe('database.tls', () => {
  test('switches TLS on and verifies the server, with PEM inline or by its path', async () => {
    const { ca } = server.authority;
    const files = await pemFiles({ ca });
    const url = server.url(`postgres:${server.postgres.password}`);
    expect(await connected(url, { ca })).toBe('postgres with TLS');
    expect(await connected(url, files)).toBe('postgres with TLS');
    expect(await connected(url, {})).toMatch(WORDS.authority);
    expect(await connected(server.url(`postgres:${server.postgres.password}`, '', '127.0.0.1'), { ca })).toMatch(
      WORDS.name,
    );
  });

  test('wins over the files of the URL', async () => {
    const { other } = await pemFiles({ other: stranger.ca });
    const url = server.url(`postgres:${server.postgres.password}`, `sslmode=verify-full&sslrootcert=${other}`);
    expect(await connected(url)).toMatch(WORDS.authority);
    expect(await connected(url, { ca: server.authority.ca })).toBe('postgres with TLS');
  });

  test('is the authority of sslmode=require with uselibpqcompat=true, too', async () => {
    const url = server.url(`postgres:${server.postgres.password}`, 'sslmode=require&uselibpqcompat=true', '127.0.0.1');
    expect(await connected(url, { ca: server.authority.ca })).toBe('postgres with TLS');
    expect(await connected(url, { ca: stranger.ca })).toMatch(WORDS.authority);
  });

  test('logs in with a client certificate alone, or beside a password', async () => {
    const { ca } = server.authority;
    const of = async (name: string) => ({ ca, ...clientCertificate(await server.authority.issue(name)) });
    expect(await connected(server.url('cert'), await of('cert'))).toBe('cert with TLS');
    expect(await connected(server.url('both:right'), await of('both'))).toBe('both with TLS');
    const { ca: sslrootcert, certificate, privateKey } = await pemFiles(await of('cert'));
    const files = `sslrootcert=${sslrootcert}&sslcert=${certificate}&sslkey=${privateKey}`;
    expect(await connected(server.url('cert', files))).toBe('cert with TLS');
  });

  test.each([
    [
      'is missing',
      'both:right',
      undefined,
      /SQLSTATE 28000: connection requires a valid client certificate.*pg_hba\.conf/,
    ],
    ['is of another user', 'both:right', 'cert', /SQLSTATE 28(000|P01): .*both.*client certificate/],
    ['is of another authority', 'both:right', 'stranger', /unknown ca.*ssl_ca_file/],
    ['has expired', 'both:right', 'expired', /certificate expired.*ssl_ca_file/],
  ])('is refused in the words of the server where the client certificate %s', async (_fault, login, kind, words) => {
    const { ca } = server.authority;
    const issued = {
      cert: () => server.authority.issue('cert'),
      stranger: () => stranger.issue('both'),
      expired: () => server.authority.issue('both', { expired: true }),
    };
    const made = kind === undefined ? undefined : await issued[kind as keyof typeof issued]();
    const said = await connected(server.url(login), { ca, ...(made && clientCertificate(made)) });
    expect(said).toMatch(/^DATABASE_REFUSED: /);
    expect(said).toMatch(words);
  });

  test('a wrong password, an unknown user and a connection without TLS are refused with what to check', async () => {
    const { ca } = server.authority;
    expect(await connected(server.url('postgres:wrong'), { ca })).toMatch(
      /^DATABASE_REFUSED: .*28P01.*check user, password/,
    );
    expect(await connected(server.url('nosuch:wrong'), { ca })).toMatch(/^DATABASE_REFUSED: .*28000.*pg_hba\.conf/);
    expect(await connected(server.url('postgres:wrong', 'sslmode=disable'))).toMatch(
      // Before PostgreSQL 14 it is the latter.
      /^DATABASE_REFUSED: .*(no encryption|SSL off)/,
    );
  });
});

describe('channel binding', () => {
  const REFUSED =
    /^DATABASE_REFUSED: PostgreSQL refused: SASL: channel_binding=require of database.url, and the server asks for/;
  const login = () => `postgres:${server.postgres.password}`;

  test('is used where the server offers it', async () => {
    const tls = { ca: server.authority.ca };
    const offered = databaseHosts(settingsOf(server.url(login()), tls))[0]?.config;
    const unused = databaseHosts(settingsOf(server.url(login(), 'channel_binding=disable'), tls))[0]?.config;
    expect(await mechanism(offered)).toBe('SCRAM-SHA-256-PLUS');
    expect(await mechanism(unused)).toBe('SCRAM-SHA-256');
    expect(await connected(server.url(login(), 'channel_binding=require'), tls)).toBe('postgres with TLS');
  });

  test('that is required is refused where a password goes in clear, or none is asked for', async () => {
    const tls = { ca: server.authority.ca };
    expect(await connected(server.url('clear:right'), tls)).toBe('clear with TLS');
    expect(await connected(server.url('clear:right', 'channel_binding=require'), tls)).toMatch(REFUSED);
    expect(await connected(server.url('trusted', 'channel_binding=require'), tls)).toMatch(REFUSED);
  });
});

test('without TLS SCRAM works as before', async () => {
  expect(await connected(sharedDatabaseUrl())).toBe('postgres without TLS');
});

describe('RDS IAM', () => {
  const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret-7f3a9c', expiresAt: Number.POSITIVE_INFINITY };
  const region = 'eu-central-1';
  const MINUTES_MS = 60_000;

  /** PostgreSQL has no IAM: it is given the token of the moment as the password. */
  async function expectToken(now: number): Promise<void> {
    const { port } = new URL(server.postgres.url);
    const token = rdsToken({ keys: KEYS, region, now }, { host: 'localhost', port: Number(port), user: 'clear' });
    const admin = `${server.postgres.urlWithPassword}?sslmode=no-verify`;
    await query(`ALTER USER clear PASSWORD ${pg.escapeLiteral(token.value)}`, [], admin);
    jest.spyOn(Date, 'now').mockReturnValue(now);
  }

  const rds = () => settingsOf(server.url('clear'), { ca: server.authority.ca }, { rdsIam: { enabled: true, region } });

  afterEach(() => {
    jest.restoreAllMocks();
    delete process.env['AWS_ACCESS_KEY_ID'];
    delete process.env['AWS_SECRET_ACCESS_KEY'];
  });

  test('each connection logs in with a token of its own time', async () => {
    process.env['AWS_ACCESS_KEY_ID'] = KEYS.accessKeyId;
    process.env['AWS_SECRET_ACCESS_KEY'] = KEYS.secretAccessKey;
    const began = Date.now();
    for (const now of [began, began + 16 * MINUTES_MS]) {
      await expectToken(now);
      const { client } = await openConnection(rds());
      await client.end();
    }
    jest.restoreAllMocks();
    await expect(openConnection(rds())).rejects.toMatchObject({ code: '28P01' });
  });
});
