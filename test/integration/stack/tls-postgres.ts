import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { LocalPostgres } from '../../../dev/stack/local-postgres.ts';
import type { TestCertificate } from '../../app/management/test-certificate.ts';
import { startPrivatePostgres } from './private-servers.ts';
import { type TestAuthority, testAuthority } from './test-authority.ts';
import { testRun } from './test-run.ts';

/** Who may come in how: `cert` by a certificate alone, `both` with a password and a certificate of its own name. */
const HBA = `
hostssl all cert     all cert
hostssl all both     all scram-sha-256 clientcert=verify-full
hostssl all clear    all password
hostssl all trusted  all trust
hostssl all postgres all scram-sha-256
`;

/** A PostgreSQL with `ssl = on`, known as localhost, that admits nothing without TLS. */
export interface TlsPostgres {
  readonly postgres: LocalPostgres;
  readonly authority: TestAuthority;
  /** A URL of it. @param userinfo user, or user:password. @param host @default 'localhost' */
  url(userinfo: string, parameters?: string, host?: string): string;
}

interface TlsPostgresOptions {
  /** Whether its certificate ended yesterday. @default false */
  readonly expired?: boolean;
  /** Password of the users that have one. @default 'right' */
  readonly password?: string;
}

/** Starts one that ends with the test file. */
export async function startTlsPostgres({
  expired = false,
  password = 'right',
}: TlsPostgresOptions = {}): Promise<TlsPostgres> {
  const authority = await testAuthority('the authority of PostgreSQL');
  const { cert, key } = await authority.issue('localhost', { names: ['localhost'], expired });
  const postgres = await startPrivatePostgres({
    files: { 'pg_hba.conf': HBA, 'server.crt': cert, 'server.key': key, 'ca.crt': authority.ca },
    settings: { ssl: 'on', ssl_ca_file: 'ca.crt' },
  });
  const { port } = new URL(postgres.url);
  const client = new pg.Client({ connectionString: postgres.urlWithPassword, ssl: { rejectUnauthorized: false } });
  await client.connect();
  for (const user of ['cert', 'both', 'clear', 'trusted']) {
    await client.query(`CREATE USER "${user}" SUPERUSER PASSWORD ${pg.escapeLiteral(password)}`);
  }
  await client.end();
  return {
    postgres,
    authority,
    url: (userinfo, parameters = '', host = 'localhost') =>
      `postgresql://${userinfo}@${host}:${port}/postgres${parameters === '' ? '' : `?${parameters}`}`,
  };
}

/** Files with these contents, in a folder of the test run: their paths by their names. */
export async function pemFiles<Name extends string>(
  pems: Readonly<Record<Name, string>>,
): Promise<Record<Name, string>> {
  const folder = await mkdtemp(join((await testRun()).path, 'pem-'));
  const written = Object.entries<string>(pems).map(async ([name, pem]) => {
    const path = join(folder, `${name}.pem`);
    await writeFile(path, pem, { mode: 0o600 });
    return [name, path] as const;
  });
  return Object.fromEntries(await Promise.all(written)) as Record<Name, string>;
}

/** `database.tls` with a client certificate, as inline PEM. */
export const clientCertificate = ({ cert, key }: TestCertificate) => ({ certificate: cert, privateKey: key });
