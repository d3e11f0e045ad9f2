import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Settings } from '../../../settings/settings.ts';
import { causesOf } from '../client/kafka-errors.ts';

/** Why a broker and the consumer do not talk to each other; neither passes by itself. */
export interface LoginRefusal {
  readonly code: 'KAFKA_LOGIN_REFUSED' | 'KAFKA_CERTIFICATE_REFUSED' | 'KAFKA_TLS_MISMATCH';
  /** The broker's words, or OpenSSL's; never a secret. */
  readonly words: string;
  /** What to check, as the end of a sentence. */
  readonly remedy: string;
}

/** Codes of Node.js and OpenSSL for a broker's certificate that no trusted authority made. */
const UNTRUSTED =
  /^(UNABLE_TO_(GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE|DECODE_ISSUER_PUBLIC_KEY)|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|CERT_(UNTRUSTED|REJECTED|SIGNATURE_FAILURE|CHAIN_TOO_LONG)|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)$/;

/** Those for one that is not, not yet or not any more valid. */
const OUT_OF_DATE = /^CERT_(HAS_EXPIRED|NOT_YET_VALID|REVOKED)$/;

/** The broker's alerts about a client certificate (RFC 8446, section 6.2). */
const CLIENT_ALERT =
  /^ERR_SSL_\w+_ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_(REQUIRED|EXPIRED|REVOKED|UNKNOWN)|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED|DECRYPT_ERROR)$/;

/** An error of OpenSSL in its own form: `...:SSL routines:function:words:file:line:...`. */
const OPENSSL_WORDS = /:SSL routines:[^:]*:([^:]+):/;

const refusalWords = (error: Error): string => {
  const words = error.message.replace(/^Connection error: /, '');
  return OPENSSL_WORDS.exec(words)?.[1] ?? words;
};

function tlsRemedy(code: string, { tls }: Settings['kafka']): string | undefined {
  if (UNTRUSTED.test(code)) {
    return `check that ${tls?.ca === undefined ? 'kafka.tls.ca names' : 'kafka.tls.ca holds'} the authority that signed the brokers' certificates`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || code === 'HOSTNAME_MISMATCH') {
    return "check that the hosts in kafka.brokers, and those that the brokers advertise, are names in the brokers' certificates, or set kafka.tls.serverName to the name that is there";
  }
  if (OUT_OF_DATE.test(code)) {
    return "renew the broker's certificate, or check the clocks";
  }
  if (CLIENT_ALERT.test(code)) {
    return tls?.certificate === undefined
      ? 'the broker asks for a client certificate: set kafka.tls.certificate and kafka.tls.privateKey'
      : "check kafka.tls.certificate: whether it has expired, and whether the brokers' truststore holds the authority that signed it";
  }
  return /^ERR_SSL_/.test(code) ? 'check which versions of TLS and which ciphers the brokers take' : undefined;
}

/** Kafka's answers to a login. */
const OF_MECHANISM: Readonly<Record<string, string>> = {
  UNSUPPORTED_SASL_MECHANISM:
    'check kafka.sasl.mechanism: sasl.enabled.mechanisms of this listener of the broker has others',
  ILLEGAL_SASL_STATE:
    'this listener of the broker takes no login: leave kafka.sasl out, or use the port of one that does',
};

const OF_LOGIN =
  'check what kafka.sasl names, such as the user and the password, and that the broker knows it under this mechanism';

/**
 * The refusal of a login by SASL; undefined for any other error, such as a lost connection or a token server that is
 * away.
 */
export function loginRefusal(error: unknown): LoginRefusal | undefined {
  const code = 'KAFKA_LOGIN_REFUSED';
  for (const { name, message, type } of causesOf(error) as Iterable<Error & { readonly type?: string }>) {
    if (name === 'KafkaJSSASLAuthenticationError' || name === 'KafkaJSProtocolError') {
      return { code, words: message, remedy: OF_MECHANISM[type ?? ''] ?? OF_LOGIN };
    }
  }
  return undefined;
}

/** The refusal of a certificate, by either side; undefined for any other error, such as a lost connection. */
export function certificateRefusal(error: unknown, settings: Settings['kafka']): LoginRefusal | undefined {
  for (const cause of causesOf(error) as Iterable<Error & { readonly code?: unknown }>) {
    const remedy = typeof cause.code === 'string' ? tlsRemedy(cause.code, settings) : undefined;
    if (remedy !== undefined) {
      return { code: 'KAFKA_CERTIFICATE_REFUSED', words: refusalWords(cause), remedy };
    }
  }
  return undefined;
}

/** A listener that speaks otherwise than the settings. */
const MISMATCH = {
  tls: {
    code: 'KAFKA_TLS_MISMATCH',
    words: 'the broker closed the connection without an answer, and speaks TLS at this port',
    remedy: 'set kafka.ssl: true, or use the port of a listener without TLS',
  },
  clear: {
    code: 'KAFKA_TLS_MISMATCH',
    words: 'the broker closed the connection without an answer, and speaks without TLS at this port',
    remedy: 'set kafka.ssl: false, or use the port of a listener with TLS',
  },
  login: {
    code: 'KAFKA_LOGIN_REFUSED',
    words: 'the broker closed the connection at the first request, and asks for a login at this port',
    remedy: 'set kafka.sasl, or use the port of a listener without SASL',
  },
} as const satisfies Record<string, LoginRefusal>;

const MISMATCHES: readonly LoginRefusal[] = Object.values(MISMATCH);

export const isMismatch = (refusal: LoginRefusal): boolean => MISMATCHES.includes(refusal);

/** A listener of a broker. */
export interface ListenerAddress {
  readonly host: string;
  readonly port: number;
}

const TIMEOUT_MS = 3_000;

const API_VERSIONS = 18;
const SASL_HANDSHAKE = 17;
const CORRELATION_ID = 0x5eed;

/** A request of version 0 without a client id: its size, head and body. */
function encodeRequest(apiKey: number, body = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.alloc(14);
  bytes.writeInt32BE(10 + body.length, 0);
  bytes.writeInt16BE(apiKey, 4);
  bytes.writeInt32BE(CORRELATION_ID, 8);
  bytes.writeInt16BE(-1, 12);
  return Buffer.concat([bytes, body]);
}

const PLAIN = 'PLAIN';
const handshake = Buffer.concat([Buffer.of(0, PLAIN.length), Buffer.from(PLAIN)]);

/** Kafka's code of a login at a listener that takes none. */
const ILLEGAL_SASL_STATE = 34;

/** The first bytes of the answer to a request, behind size and correlation id; undefined where none is Kafka's. */
async function ask(socket: Socket, bytes: Buffer): Promise<Buffer | undefined> {
  socket.on('error', () => undefined);
  try {
    socket.write(bytes);
    const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(TIMEOUT_MS) })) as [Buffer];
    return answer.length >= 10 && answer.readInt32BE(4) === CORRELATION_ID ? answer.subarray(8) : undefined;
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

/** Whether a broker answers there without TLS. */
const speaksClear = async ({ host, port }: ListenerAddress): Promise<boolean> =>
  (await ask(connect({ host, port }), encodeRequest(API_VERSIONS))) !== undefined;

/**
 * Whether there is TLS: the other side answers a handshake, be it with an alert. Nothing is sent behind the handshake,
 * so it does not matter who answers.
 */
async function speaksTls({ host, port }: ListenerAddress): Promise<boolean> {
  const socket = connectTls({ host, port, rejectUnauthorized: false });
  socket.on('error', () => undefined);
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return true;
  } catch (error) {
    return /^ERR_SSL_\w+_ALERT_/.test(String((error as NodeJS.ErrnoException).code));
  } finally {
    socket.destroy();
  }
}

/** Whether the listener takes logins: it answers the handshake of SASL, be it that it has another mechanism. */
async function wantsLogin(socket: Socket): Promise<boolean> {
  const answer = await ask(socket, encodeRequest(SASL_HANDSHAKE, handshake));
  return answer !== undefined && answer.readInt16BE(0) !== ILLEGAL_SASL_STATE;
}

/** What a broker answered on a connection: nothing, greetings that need no login, or requests. */
export type AnsweredSoFar = 'nothing' | 'greetings' | 'requests';

/**
 * Asks a listener in the other way than the settings, after it closed a connection without a word.
 *
 * @param answered what it answered on that connection; `otherwise`: something that is not Kafka's protocol
 * @param open opens a connection by the settings
 * @returns undefined where it speaks as the settings have it, or is away
 */
export async function listenerMismatch(
  address: ListenerAddress,
  answered: AnsweredSoFar | 'otherwise',
  { ssl, sasl }: Settings['kafka'],
  open: () => Socket,
): Promise<LoginRefusal | undefined> {
  if (answered === 'otherwise') {
    return !ssl && (await speaksTls(address)) ? MISMATCH.tls : undefined;
  }
  if (answered === 'nothing' && (await (ssl ? speaksClear(address) : speaksTls(address)))) {
    return ssl ? MISMATCH.clear : MISMATCH.tls;
  }
  // kafkajs sends no greetings to an advertised address: it takes the versions of the bootstrap address.
  return sasl === undefined && (await wantsLogin(open())) ? MISMATCH.login : undefined;
}
