import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../../dev/run/free-port.ts';
import type { Listener, LocalKafka, LocalKafkaOptions } from '../../../dev/stack/local-kafka.ts';
import { pkcs12Text } from '../../app/management/pkcs12-text.ts';
import type { TestCertificate } from '../../app/management/test-certificate.ts';
import { startPrivateKafka } from './private-servers.ts';
import { randomName } from './random-name.ts';
import { testAuthority } from './test-authority.ts';
import { testRun } from './test-run.ts';

/** The listeners beside the plain one; the certificates of all but `EXPIRED...` name `localhost` alone. */
const PROTOCOLS = {
  /** TLS alone. */
  TLS: 'SSL',
  /** TLS with a client certificate of the authority. */
  MUTUAL: 'SSL',
  SASL_TLS: 'SASL_SSL',
  SASL_PLAIN: 'SASL_PLAINTEXT',
  EXPIRED: 'SSL',
  EXPIRED_SASL: 'SASL_SSL',
} as const satisfies Record<string, Listener['protocol']>;

type ListenerName = keyof typeof PROTOCOLS;

/** The name of a user at the brokers, for PLAIN and SCRAM. */
export const USER = 'alice';

/** PEM files, by what they hold. */
interface PemFiles {
  readonly ca: string;
  /** An authority that made none of the broker's certificates. */
  readonly otherCa: string;
  readonly clientCertificate: string;
  readonly clientKey: string;
  /** Both, as `openssl pkcs12 -nodes` writes them. */
  readonly clientBundle: string;
  readonly expiredClientCertificate: string;
  readonly expiredClientKey: string;
  /** A client certificate by the other authority. */
  readonly strangeClientCertificate: string;
  readonly strangeClientKey: string;
}

/** A broker with listeners of each kind. */
export interface SecuredKafka extends LocalKafka {
  /** `localhost:port` of a listener. */
  at(name: ListenerName): string;
  readonly files: PemFiles;
  /** The user's password. */
  readonly password: string;
  /** Takes the user's password for SCRAM-SHA-512 away. @throws Error when the broker does not */
  forgetScram512(): Promise<void>;
}

/** Flexible strings and arrays have their length plus one in front (KIP-482). */
const flexible = (text: string): Buffer => Buffer.concat([Buffer.of(text.length + 1), Buffer.from(text)]);

/** AlterUserScramCredentials v0 (KIP-554), which kafkajs does not have: one deletion of mechanism 2, SCRAM-SHA-512. */
const FORGET = Buffer.concat([
  Buffer.of(0, 51, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0),
  Buffer.of(2),
  flexible(USER),
  Buffer.of(2, 0),
  Buffer.of(1, 0),
]);

async function forgetScram512(broker: string): Promise<void> {
  const [host = '', port = ''] = broker.split(':');
  const socket = connect(Number(port), host);
  try {
    socket.write(Buffer.concat([Buffer.of(0, 0, 0, FORGET.length), FORGET]));
    const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(10_000) })) as [Buffer];
    // Size, correlation id, tags, throttle time, number of results and the user stand in front of the code.
    const code = answer.readInt16BE(4 + 4 + 1 + 4 + 1 + 1 + USER.length);
    if (code !== 0) {
      throw new Error(`the password of ${USER} was not taken away: code ${code}`);
    }
  } finally {
    socket.destroy();
  }
}

type Properties = NonNullable<LocalKafkaOptions['properties']>;

const MODULES = 'org.apache.kafka.common.security';
const SCRAM = ['SCRAM-SHA-256', 'SCRAM-SHA-512'] as const;

/** The value of `sasl.jaas.config` of PLAIN, which holds all users. */
const plainUsers = (password: string): string =>
  `${MODULES}.plain.PlainLoginModule required user_${USER}="${password}";`;

/** The logins of a SASL listener: PLAIN and SCRAM. */
function logins(name: string, password: string): Properties {
  const prefix = `listener.name.${name.toLowerCase()}`;
  const scram = SCRAM.map((mechanism) => [
    `${prefix}.${mechanism.toLowerCase()}.sasl.jaas.config`,
    `${MODULES}.scram.ScramLoginModule required;`,
  ]);
  return {
    [`${prefix}.sasl.enabled.mechanisms`]: ['PLAIN', ...SCRAM].join(),
    [`${prefix}.plain.sasl.jaas.config`]: plainUsers(password),
    ...Object.fromEntries(scram),
  };
}

const keystore = (file: string, prefix = ''): Properties => ({
  [`${prefix}ssl.keystore.type`]: 'PEM',
  [`${prefix}ssl.keystore.location`]: file,
});

/** Writes PEM files into a new folder. */
async function writeFiles<Name extends string>(texts: Readonly<Record<Name, string>>): Promise<Record<Name, string>> {
  const folder = await mkdtemp(join((await testRun()).path, 'certificates-'));
  const written = Object.entries<string>(texts).map(async ([name, text]) => {
    const file = join(folder, `${name}.pem`);
    await writeFile(file, text, { mode: 0o600 });
    return [name, file] as const;
  });
  return Object.fromEntries(await Promise.all(written)) as Record<Name, string>;
}

async function makeFiles() {
  const [authority, other] = await Promise.all([testAuthority('test authority'), testAuthority('other authority')]);
  const server = { names: ['localhost'] };
  const [broker, expired, client, expiredClient, strangeClient] = await Promise.all([
    authority.issue('broker', server),
    authority.issue('broker', { ...server, expired: true }),
    authority.issue(USER),
    authority.issue(USER, { expired: true }),
    other.issue(USER),
  ]);
  const whole = ({ key, cert }: TestCertificate): string => `${key}\n${cert}\n${authority.ca}`;
  return writeFiles({
    broker: whole(broker),
    expiredBroker: whole(expired),
    ca: authority.ca,
    otherCa: other.ca,
    clientCertificate: client.cert,
    clientKey: client.key,
    clientBundle: pkcs12Text(client),
    expiredClientCertificate: expiredClient.cert,
    expiredClientKey: expiredClient.key,
    strangeClientCertificate: strangeClient.cert,
    strangeClientKey: strangeClient.key,
  });
}

async function listenersOf<Name extends string>(
  protocols: Readonly<Record<Name, Listener['protocol']>>,
): Promise<Record<Name, Listener>> {
  const listeners = Object.entries<Listener['protocol']>(protocols).map(async ([name, protocol]) => {
    return [name, { protocol, port: await freePort() }] as const;
  });
  return Object.fromEntries(await Promise.all(listeners)) as Record<Name, Listener>;
}

/**
 * Starts a broker with a listener for each way to log in. Its plain listener, {@link LocalKafka.broker}, is for the
 * test's own topics and records.
 *
 * @param options further listeners, as for OAUTHBEARER, with their properties
 */
export async function startSecuredKafka(
  options: Pick<LocalKafkaOptions, 'listeners' | 'properties' | 'jvm' | 'joins'> = {},
): Promise<SecuredKafka> {
  const [files, listeners] = await Promise.all([makeFiles(), listenersOf(PROTOCOLS)]);
  const password = randomName('canary-password');
  const kafka = await startPrivateKafka({
    ...options,
    listeners: { ...listeners, ...options.listeners },
    format: SCRAM.flatMap((mechanism) => ['--add-scram', `${mechanism}=[name=${USER},password=${password}]`]),
    properties: {
      ...keystore(files.broker),
      'ssl.truststore.type': 'PEM',
      'ssl.truststore.location': files.ca,
      'listener.name.mutual.ssl.client.auth': 'required',
      ...keystore(files.expiredBroker, 'listener.name.expired.'),
      ...keystore(files.expiredBroker, 'listener.name.expired_sasl.'),
      ...logins('SASL_TLS', password),
      ...logins('SASL_PLAIN', password),
      ...logins('EXPIRED_SASL', password),
      ...options.properties,
    },
  });
  // The getters of the broker are passed on, not their values of this moment.
  return Object.assign(Object.create(kafka) as LocalKafka, {
    at: (name: ListenerName) => `localhost:${listeners[name].port}`,
    files,
    password,
    forgetScram512: () => forgetScram512(kafka.broker),
  });
}
