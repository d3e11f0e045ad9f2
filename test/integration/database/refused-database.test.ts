import { beforeAll, describe, expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { testAuthority } from '../stack/test-authority.ts';
import { clientCertificate, startTlsPostgres, type TlsPostgres } from '../stack/tls-postgres.ts';

const CANARY = 'hunter2-7f3a9c';
/** As the manifests name it. */
const ORIGIN = 'Secret orders-database, keys url, user, password';
/** Before the first liveness probe. */
const WITHIN_MS = 45_000;

interface Fault {
  readonly name: string;
  readonly url: (servers: Servers) => string;
  readonly tls?: (servers: Servers) => Readonly<Record<string, string>>;
  /** In the words of PostgreSQL or of TLS, and what to check. */
  readonly words: readonly (string | RegExp)[];
}

interface Servers {
  readonly right: TlsPostgres;
  readonly expired: TlsPostgres;
  readonly stranger: { readonly ca: string; readonly certificate: string; readonly privateKey: string };
}

const ca = ({ right }: Servers) => ({ ca: right.authority.ca });

const FAULTS: readonly Fault[] = [
  {
    name: 'a client certificate of another authority',
    url: ({ right }) => right.url(`both:${CANARY}`),
    tls: ({ right, stranger }) => ({ ...stranger, ca: right.authority.ca }),
    words: ['tlsv1 alert unknown ca', 'ssl_ca_file'],
  },
  {
    name: 'a password that is wrong',
    url: ({ right }) => right.url(`postgres:${CANARY}`),
    tls: ca,
    words: ['SQLSTATE 28P01', 'check user, password'],
  },
  {
    name: 'an unknown authority',
    url: ({ right }) => right.url(`postgres:${CANARY}`),
    tls: ({ stranger }) => ({ ca: stranger.ca }),
    words: ['self-signed certificate in certificate chain', 'database.tls.ca'],
  },
  {
    name: 'another host name',
    url: ({ right }) => right.url(`postgres:${CANARY}`, 'sslmode=require', '127.0.0.1'),
    tls: ca,
    words: ["does not match certificate's altnames", 'the host in database.url'],
  },
  {
    name: 'an expired certificate',
    url: ({ expired }) => expired.url(`postgres:${CANARY}`),
    tls: ({ expired }) => ({ ca: expired.authority.ca }),
    words: ['certificate has expired', 'has to be renewed'],
  },
  {
    name: 'no client certificate',
    url: ({ right }) => right.url(`both:${CANARY}`),
    tls: ca,
    words: ['SQLSTATE 28000', 'requires a valid client certificate', 'pg_hba.conf'],
  },
  {
    name: 'no TLS where it is wanted',
    url: ({ right }) => right.url(`postgres:${CANARY}`, 'sslmode=disable'),
    // Before PostgreSQL 14 it is the latter.
    words: ['SQLSTATE 28000', /no encryption|SSL off/, 'pg_hba.conf'],
  },
];

const ended = new Map<
  string,
  { readonly code: number | null; readonly afterMs: number; readonly lines: readonly string[] }
>();

async function run({ name, url, tls }: Fault, servers: Servers): Promise<void> {
  const beganAt = performance.now();
  const database = { credentialsFrom: ORIGIN, ...(tls && { tls: tls(servers) }) };
  const consumer = await startConsumer({ topics: ['nosuch'], databaseUrl: url(servers), settings: { database } });
  const { code } = await consumer.exited;
  ended.set(name, { code, afterMs: performance.now() - beganAt, lines: consumer.logs.all });
}

async function runAll(): Promise<void> {
  const [right, expired, stranger] = await Promise.all([
    startTlsPostgres(),
    startTlsPostgres({ expired: true }),
    testAuthority('an authority of strangers'),
  ]);
  const certificate = clientCertificate(await stranger.issue('both'));
  const servers = { right, expired, stranger: { ca: stranger.ca, ...certificate } };
  await Promise.all(FAULTS.map((fault) => run(fault, servers)));
}

/** They wait for most of their time, so the first test runs meanwhile. */
let runs: Promise<void>;
beforeAll(() => {
  runs = runAll();
  runs.catch(() => undefined);
});

const JSON_LINE = /^\{.*\}$/;
const values = (count: number) => Array.from({ length: count }, (_, id) => ({ value: `{"id":${id}}` }));

/** Ends the sessions of the consumer's role, so that each has to log in again. */
const endSessions = (url: string) =>
  query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'clear'", [], url);

longTest(
  'a running consumer goes on when a refused password is right again, and the next process with another one',
  async () => {
    const server = await startTlsPostgres({ password: 'first' });
    const admin = `${server.postgres.urlWithPassword}?sslmode=no-verify`;
    const setPassword = async (password: string) => {
      await query(`ALTER USER clear PASSWORD '${password}'`, [], admin);
      await endSessions(admin);
    };
    const topic = await createTopic();
    const start = (password: string, again: Partial<StartedConsumer> = {}) =>
      startConsumer({
        topics: [topic],
        databaseUrl: server.url(`clear:${password}`, 'sslmode=require'),
        settings: { database: { tls: { ca: server.authority.ca } } },
        ...(again.groupId && { groupId: again.groupId, schema: again.schema }),
      });
    const consumer = await start('first');
    const stored = { schema: consumer.schema, topic, url: admin };
    await produce(topic, values(50));
    await awaitEachOnce({ ...stored, records: 50 });

    await setPassword('second');
    await produce(topic, values(50));
    await consumer.logs.waitFor(/SQLSTATE 28P01/);
    await setPassword('first');
    await awaitEachOnce({ ...stored, records: 100 });
    // A health check that was refused asks again 10 s later.
    await consumer.logs.waitFor(/PostgreSQL is back/);

    await setPassword('second');
    await produce(topic, values(50));
    consumer.kill('SIGKILL');
    await consumer.exited;
    expect(consumer.logs.all.filter((line) => !JSON_LINE.test(line))).toEqual([]);
    await awaitEachOnce({ ...stored, records: 100 });
    await start('second', consumer);
    await awaitEachOnce({ ...stored, records: 150 });
  },
  120_000,
);

test('a command is refused at once', async () => {
  const server = await startTlsPostgres();
  const url = server.url(`postgres:${CANARY}`, 'sslmode=no-verify');
  const env = { ...databaseEnvironment(url, 'nowhere'), DATABASE_CREDENTIALS_FROM: ORIGIN };
  const { code, stdout, stderr } = await runCommand(['migrate'], { env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^stream-consumer migrate: PostgreSQL refused: SQLSTATE 28P01: .*; check user, password.*\n$/);
  expect(stderr).toContain(ORIGIN);
  expect(stderr).not.toContain(CANARY);
});

describe('a consumer that PostgreSQL, or TLS, refuses', () => {
  beforeAll(() => runs, 120_000);

  test.each(FAULTS)('ends with code 1, in JSON lines, with the words and what to check: $name', ({ name, words }) => {
    const { code, afterMs, lines } = ended.get(name) ?? { code: -1, afterMs: 0, lines: [] };
    const parsed = lines.map((line) => JSON.parse(line) as { level: string; code?: string; msg: string });
    const refusals = parsed.filter((line) => line.code === 'DATABASE_REFUSED');
    expect(code).toBe(1);
    expect(afterMs).toBeLessThan(WITHIN_MS);
    expect(refusals).toHaveLength(1);
    for (const word of [...words, ORIGIN]) expect(refusals[0]?.msg).toMatch(word);
    expect(lines.filter((line) => line.includes('(attempt '))).toHaveLength(4);
    expect(lines.join()).not.toContain(CANARY);
    expect(lines.join()).not.toContain('PRIVATE KEY');
  });
});
