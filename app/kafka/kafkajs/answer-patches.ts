import type { Socket } from 'node:net';
import { answerLimit, InvalidAnswerError, isTls, usualCause } from '../../invalid-answer.ts';
import type { Connection, Scram } from './classes.ts';
import { internals } from './internals.ts';

/** Size and correlation id, both of 32 bits, which each answer begins with. */
const SIZE_BYTES = 4;
const CORRELATION_BYTES = 4;

/** Bytes that are shown of what is no answer. */
const SHOWN_BYTES = 8;

/** Why nothing more is read from a socket. */
const refused = new WeakMap<Socket, Error>();

/** The sockets that the pieces of connections came from. */
const sources = new WeakMap<Connection, Socket>();

function buffer(connection: Connection, piece: Buffer): void {
  if (sources.get(connection) !== connection.socket) {
    // What a lost connection left behind is no beginning of what the next one brings.
    sources.set(connection, connection.socket);
    discard(connection);
  }
  connection.chunks.push(piece);
  connection.bytesBuffered += piece.length;
}

function discard(connection: Connection): void {
  connection.chunks = [];
  connection.bytesBuffered = 0;
  connection.bytesNeeded = SIZE_BYTES;
}

/** The size that the buffered bytes begin with. @throws InvalidAnswerError when no answer can have it */
function sizeOf(connection: Connection, first: Buffer, limit: number): number {
  const size = first.readInt32BE(0);
  // A mechanism of before Kafka 1.0 answers without a correlation id, and with nothing where it has nothing to add.
  const least = connection.authHandlers === null ? CORRELATION_BYTES : 0;
  if (size >= least && size <= limit && !isTls(first)) {
    return size;
  }
  throw new InvalidAnswerError(
    `${connection.broker} sent an answer of the size ${size}, and ${least} to ${limit} bytes are taken ` +
      `(it begins with ${first.toString('hex', 0, SHOWN_BYTES)}): ${usualCause(first)}`,
  );
}

/** The next answer behind its size; undefined while it is not there whole. */
function nextAnswer(connection: Connection, limit: number): Buffer | undefined {
  if (connection.bytesBuffered < connection.bytesNeeded) {
    return undefined;
  }
  const bytes =
    connection.chunks.length > 1 ? Buffer.concat(connection.chunks) : (connection.chunks[0] ?? Buffer.alloc(0));
  const end = SIZE_BYTES + sizeOf(connection, bytes, limit);
  if (end > bytes.length) {
    connection.chunks = [bytes];
    connection.bytesNeeded = end;
    return undefined;
  }
  connection.chunks = [bytes.subarray(end)];
  connection.bytesBuffered = bytes.length - end;
  connection.bytesNeeded = SIZE_BYTES;
  return bytes.subarray(0, end);
}

/** Without the listeners of answers: what fails there is no fault of the broker, and is thrown. */
function answerOrRefuse(connection: Connection, limit: number): Buffer | undefined {
  try {
    return nextAnswer(connection, limit);
  } catch (error) {
    refuse(connection, error as Error);
    return undefined;
  }
}

function deliver(connection: Connection, answer: Buffer): void {
  if (connection.authHandlers) {
    connection.authHandlers.onSuccess(answer);
    return;
  }
  const correlationId = answer.readInt32BE(SIZE_BYTES);
  const payload = answer.subarray(SIZE_BYTES + CORRELATION_BYTES);
  connection.requestQueue.fulfillRequest({ size: answer.length - SIZE_BYTES, correlationId, payload });
}

/**
 * Takes answers apart within a bound. As shipped the size that an answer begins with is believed: one of 2^31-1, as of a web
 * server, is waited for until the memory ends, and one of -1 ends the process. What is no answer closes the connection,
 * and its requests fail with an error that says what came.
 *
 * @param limit bytes that an answer may have. @default half of the memory limit
 */
export function boundAnswers(prototype: Connection, limit = answerLimit()): void {
  prototype.processData = function processBounded(this: Connection, piece) {
    if (refused.has(this.socket)) {
      return;
    }
    if (this.authHandlers && !this.authExpectResponse) {
      this.authHandlers.onSuccess(piece);
      return;
    }
    buffer(this, piece);
    for (let answer = answerOrRefuse(this, limit); answer !== undefined; answer = answerOrRefuse(this, limit)) {
      deliver(this, answer);
    }
  };
  const { sendAuthRequest } = prototype;
  prototype.sendAuthRequest = async function sendAuthOrRefuse(this: Connection, sent) {
    const { response } = sent;
    // What decodes at once, as kafkajs's types have it, would fail outside of the login.
    const decoded = { ...response, decode: async (answer: Buffer) => response.decode(answer) };
    return sendAuthRequest.call(this, { ...sent, response: decoded }).catch((error: unknown) => {
      throw refused.get(this.socket) ?? error;
    });
  };
}

function refuse(connection: Connection, error: Error): void {
  refused.set(connection.socket, error);
  discard(connection);
  connection.authHandlers?.onError();
  connection.socket.destroy(error);
}

/** Above what Kafka's own tools let a user have (16,384), and a second of work. */
const MOST_ITERATIONS = 1_000_000;

/** Bounds the work that a broker asks for in a login by SCRAM. As shipped 2^31 iterations take an hour of a thread. */
export function boundIterations(prototype: Scram): void {
  const { sendClientFinalMessage } = prototype;
  prototype.sendClientFinalMessage = async function sendAfterBoundedWork(this: Scram, first) {
    if (!(Number(first.i) <= MOST_ITERATIONS)) {
      throw new internals.errors.KafkaJSSASLAuthenticationError(
        `${this.PREFIX} failed: the broker asks for ${first.i} iterations, and at most ${MOST_ITERATIONS} are made`,
      );
    }
    return sendClientFinalMessage.call(this, first);
  };
}
