import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

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
function request(apiKey: number, body = Buffer.alloc(0)): Buffer {
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
export const speaksClear = async ({ host, port }: ListenerAddress): Promise<boolean> =>
  (await ask(connect({ host, port }), request(API_VERSIONS))) !== undefined;

/**
 * Whether there is TLS: the other side answers a handshake, be it with an alert. Nothing is sent behind the handshake, so
 * it does not matter who answers.
 */
export async function speaksTls({ host, port }: ListenerAddress): Promise<boolean> {
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
export async function wantsLogin(socket: Socket): Promise<boolean> {
  const answer = await ask(socket, request(SASL_HANDSHAKE, handshake));
  return answer !== undefined && answer.readInt16BE(0) !== ILLEGAL_SASL_STATE;
}
