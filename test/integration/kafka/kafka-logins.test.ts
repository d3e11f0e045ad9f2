import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pLimit from 'p-limit';
import { countConnections } from '../stack/counting-proxy.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { type SecuredKafka, startSecuredKafka, USER } from '../stack/secured-kafka.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { awaitRoot } from '../stack/told-health.ts';

/** Before the first liveness probe, which a refused consumer shall not wait for. */
const EXITS_WITHIN_MS = 45_000;
const PATIENCE_MS = 50_000;

const SASL = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
type Mechanism = (typeof SASL)[number] | 'mutual TLS' | 'TLS';
type Listener = Parameters<SecuredKafka['at']>[0];
type Section = Readonly<Record<string, unknown>>;

/** How a fault is seen from outside. */
interface Verdict {
  readonly code: string;
  readonly words: readonly string[];
}

/** What the settings and the listener are, as they are right, and what a fault changes in them. */
interface Cell {
  readonly listener: Listener | 'plain';
  readonly host?: string;
  readonly kafka: { readonly ssl?: boolean; readonly tls?: Section; readonly sasl?: Section };
  readonly verdict?: Verdict;
}

let kafka: SecuredKafka;
let topic: string;
let canaries: readonly string[];
/** As the manifests name it; a listener that speaks otherwise has refused none of it. */
const ORIGIN = 'Secret orders-kafka, keys username, password';
const wrongPassword = randomName('canary-wrong-password');

/** The settings and the listener that go together. */
function right(mechanism: Mechanism): Cell {
  const { ca, clientBundle } = kafka.files;
  if (mechanism === 'mutual TLS') {
    const tls = { ca, certificate: clientBundle, privateKey: clientBundle };
    return { listener: 'MUTUAL', kafka: { ssl: true, tls } };
  }
  const sasl = { mechanism, username: USER, password: kafka.password };
  const tls = { ssl: true, tls: { ca } };
  return mechanism === 'TLS' ? { listener: 'TLS', kafka: tls } : { listener: 'SASL_TLS', kafka: { ...tls, sasl } };
}

type Fault = (cell: Cell, mechanism: Mechanism) => Cell;

const certificate = (...words: readonly string[]): Verdict => ({ code: 'KAFKA_CERTIFICATE_REFUSED', words });
const mismatch = (...words: readonly string[]): Verdict => ({ code: 'KAFKA_TLS_MISMATCH', words });
const login = (...words: readonly string[]): Verdict => ({ code: 'KAFKA_LOGIN_REFUSED', words });
const withTls = (cell: Cell, tls: Section): Cell['kafka'] => ({ ...cell.kafka, tls: { ...cell.kafka.tls, ...tls } });

const FAULTS = {
  right: (cell) => cell,
  'wrong authority': (cell) => ({
    ...cell,
    kafka: withTls(cell, { ca: kafka.files.otherCa }),
    verdict: certificate('self-signed certificate in certificate chain', 'kafka.tls.ca'),
  }),
  'wrong host name': (cell) => ({
    ...cell,
    host: '127.0.0.1',
    verdict: certificate("127.0.0.1 is not in the cert's list", 'kafka.tls.serverName'),
  }),
  'expired certificate': (cell, mechanism) =>
    mechanism === 'mutual TLS'
      ? {
          ...cell,
          kafka: withTls(cell, {
            certificate: kafka.files.expiredClientCertificate,
            privateKey: kafka.files.expiredClientKey,
          }),
          verdict: certificate('alert certificate unknown', 'whether it has expired'),
        }
      : {
          ...cell,
          listener: mechanism === 'TLS' ? 'EXPIRED' : 'EXPIRED_SASL',
          verdict: certificate('certificate has expired', "renew the broker's certificate"),
        },
  'wrong password': (cell) => ({
    ...cell,
    kafka: { ...cell.kafka, sasl: { ...cell.kafka.sasl, password: wrongPassword } },
    verdict: login('Authentication failed', 'check what kafka.sasl names'),
  }),
  'clear against TLS': (cell) => ({
    ...cell,
    kafka: { ...(cell.kafka.sasl && { sasl: cell.kafka.sasl }) },
    verdict: mismatch('speaks TLS at this port', 'kafka.ssl: true'),
  }),
  'TLS against clear': (cell) => ({
    ...cell,
    listener: cell.kafka.sasl === undefined ? 'plain' : 'SASL_PLAIN',
    verdict: mismatch('speaks without TLS at this port', 'kafka.ssl: false'),
  }),
  'no client certificate': (cell) => ({
    ...cell,
    kafka: { ssl: true, tls: { ca: kafka.files.ca } },
    verdict: certificate('alert bad certificate', 'set kafka.tls.certificate and kafka.tls.privateKey'),
  }),
  "another authority's client certificate": (cell) => ({
    ...cell,
    kafka: withTls(cell, {
      certificate: kafka.files.strangeClientCertificate,
      privateKey: kafka.files.strangeClientKey,
    }),
    verdict: certificate('alert certificate unknown', "brokers' truststore"),
  }),
  'no login where one is asked for': (cell) => ({
    ...cell,
    listener: 'SASL_TLS',
    verdict: login('asks for a login at this port', 'set kafka.sasl'),
  }),
  'a login where none is taken': (cell) => ({
    ...cell,
    listener: 'TLS',
    verdict: login('SASL state', 'leave kafka.sasl out'),
  }),
} as const satisfies Record<string, Fault>;

type FaultName = keyof typeof FAULTS;

/** Faults of TLS, which come before the login. */
const OF_TLS = [
  'wrong authority',
  'wrong host name',
  'expired certificate',
  'clear against TLS',
  'TLS against clear',
] as const;
/** A broker that waits for a login ends such a connection in another way. */
const OF_PORTS = ['clear against TLS', 'TLS against clear'] as const;
const OF_CLIENT = ['no client certificate', "another authority's client certificate"] as const;

const TABLE: readonly (readonly [Mechanism, FaultName])[] = [
  ...SASL.flatMap((mechanism) => (['right', 'wrong password'] as const).map((fault) => [mechanism, fault] as const)),
  ...OF_PORTS.map((fault) => ['plain', fault] as const),
  ...(['right', 'expired certificate', ...OF_CLIENT] as const).map((fault) => ['mutual TLS', fault] as const),
  ...(['right', ...OF_TLS, 'no login where one is asked for'] as const).map((fault) => ['TLS', fault] as const),
  ['plain', 'a login where none is taken'],
];

/** What TLS does before a login, or with a certificate of the client's, is what it does alone: these are long tests. */
const LONG_TABLE = ([...SASL, 'mutual TLS'] as const)
  .flatMap((mechanism) => OF_TLS.map((fault) => [mechanism, fault] as const))
  .filter((cell) => !TABLE.some((other) => String(other) === String(cell)));

/** What was seen of a consumer. */
interface Seen {
  readonly exit: number | null;
  readonly afterMs: number;
  readonly connections: number;
  readonly kafkaStatuses: ReadonlySet<string>;
  readonly health: string;
  readonly log: readonly string[];
}

const portOf = (broker: string): number => Number(broker.split(':')[1]);

/** Asks for the health until the consumer has ended. */
async function watchHealth(consumer: StartedConsumer) {
  const answers: string[] = [];
  let hasEnded = false;
  void consumer.exited.then(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    const answer = await consumer.get(consumer.endpoint.healthPath).then(
      (response) => response.text(),
      () => '',
    );
    answers.push(answer);
    await Promise.race([consumer.exited, new Promise((resolve) => setTimeout(resolve, 500))]);
  }
  const bodies = answers.filter((answer) => answer.startsWith('{')).map((answer) => JSON.parse(answer));
  return {
    health: answers.join('\n'),
    kafkaStatuses: new Set<string>(bodies.map(({ components }) => components.kafka?.status)),
  };
}

async function run({ listener, host = 'localhost', kafka: section, verdict }: Cell): Promise<Seen> {
  const target = portOf(listener === 'plain' ? kafka.broker : kafka.at(listener));
  const proxy = await countConnections(target);
  const startedAt = Date.now();
  const consumer = await startConsumer({
    topics: [topic],
    brokers: [`${host}:${verdict === undefined ? target : proxy.port}`],
    settings: { kafka: { ...section, credentialsFrom: ORIGIN } },
  });
  const watched = watchHealth(consumer);
  if (verdict === undefined) {
    await consumer.waitForHealth();
    await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
    await awaitRoot(consumer, 'Kafka to be UP', ({ components }) => components['kafka']?.status === 'UP');
    consumer.kill('SIGTERM');
  }
  const { code } = await consumer.exited;
  proxy.close();
  const afterMs = Date.now() - startedAt;
  return { exit: code, afterMs, connections: proxy.connections, log: consumer.logs.all, ...(await watched) };
}

function expectRefused({ code, words }: Verdict, seen: Seen): void {
  expect(seen.exit).toBe(1);
  expect(seen.afterMs).toBeLessThan(EXITS_WITHIN_MS);
  const fatal = seen.log.filter((line) => line.includes('"fatal"')).map((line) => JSON.parse(line));
  expect(fatal).toEqual([expect.objectContaining({ code })]);
  for (const word of words) expect(fatal[0].msg).toContain(word);
  expect(fatal[0].msg.includes(ORIGIN)).toBe(code !== 'KAFKA_TLS_MISMATCH');
  // Beside the attempts a listener that closes without a word is asked once in the other way.
  expect(seen.connections).toBeLessThanOrEqual(fatal[0].msg.includes('closed the connection') ? 6 : 5);
  expect([...seen.kafkaStatuses]).toContain('DOWN');
  expect([...seen.kafkaStatuses]).not.toContain('UP');
  for (const word of words.slice(0, 1)) expect(seen.health).toContain(word);
}

function expectCell(cell: Cell, seen: Seen): void {
  for (const canary of canaries) {
    expect(seen.log.join('\n')).not.toContain(canary);
    expect(seen.health).not.toContain(canary);
  }
  if (cell.verdict !== undefined) {
    expectRefused(cell.verdict, seen);
    return;
  }
  expect(seen.exit).toBe(0);
}

/** So many consumers at once leave each of them time enough. */
const limit = pLimit(10);

const started = new Map<string, Promise<Seen>>();

const cellOf = (mechanism: Mechanism, fault: FaultName): Cell => (FAULTS[fault] as Fault)(right(mechanism), mechanism);

beforeAll(async () => {
  kafka = await startSecuredKafka();
  topic = await createTopic(kafka);
  await produce(topic, [{ value: '1' }], kafka);
  const keys = [kafka.files.clientKey, kafka.files.expiredClientKey, kafka.files.strangeClientKey];
  const bodies = await Promise.all(keys.map(async (file) => (await readFile(file, 'utf8')).split('\n')[1] ?? ''));
  canaries = [kafka.password, wrongPassword, ...bodies];
  for (const [mechanism, fault] of TABLE) {
    const seen = limit(() => run(cellOf(mechanism, fault)));
    seen.catch(() => undefined);
    started.set(`${mechanism} ${fault}`, seen);
  }
});

afterAll(() => limit.clearQueue());

describe('a consumer', () => {
  test.each(TABLE)(
    'by %s: %s',
    async (mechanism, fault) => {
      const seen = await started.get(`${mechanism} ${fault}`);
      expectCell(cellOf(mechanism, fault), seen as Seen);
    },
    PATIENCE_MS,
  );
});

for (const [mechanism, fault] of LONG_TABLE) {
  longTest(`a consumer by ${mechanism}: ${fault}`, async () => {
    const cell = cellOf(mechanism, fault);
    expectCell(cell, await run(cell));
  });
}
