import type { Socket } from 'node:net';
import { processMemory } from '../../memory/memory-budget.ts';
import { MemoryPool } from '../../memory/memory-pool.ts';
import { answerLimit, InvalidAnswerError, isTls, usualCause } from '../../network/invalid-answer.ts';
import type { Connection, Scram } from './classes.ts';
import { internals } from './internals.ts';

/** Size and correlation id, both of 32 bits, which each answer begins with. */
const SIZE_BYTES = 4;
const CORRELATION_BYTES = 4;

/** Bytes that are shown of what is no answer. */
const SHOWN_BYTES = 8;

/** Why nothing more is read from a socket. */
const refused = new WeakMap<Socket, Error>();

/** The answer that comes over a socket. */
interface Incoming {
  readonly head: Buffer;
  /** Memory of the size in the head, the head included; `null` until the head is there. */
  answer: Buffer | null;
  /** Bytes that have come of the head, or of the answer. */
  come: number;
}

/** By the socket: what a lost connection left behind is no beginning of what the next one brings. */
const incoming = new WeakMap<Socket, Incoming>();

function incomingOf({ socket }: Connection): Incoming {
  const known = incoming.get(socket) ?? { head: Buffer.alloc(SIZE_BYTES), answer: null, come: 0 };
  incoming.set(socket, known);
  return known;
}

/**
 * The size that an answer begins with.
 *
 * @param behind bytes that came with the last one of the head
 * @throws InvalidAnswerError when no answer can have it
 */
function answerSize(connection: Connection, head: Buffer, behind: Buffer, limit: number): number {
  const size = head.readInt32BE(0);
  // A mechanism of before Kafka 1.0 answers without a correlation id, and with nothing where it has nothing to add.
  const least = connection.authHandlers === null ? CORRELATION_BYTES : 0;
  if (size >= least && size <= limit && !isTls(head)) {
    return size;
  }
  const first = Buffer.concat([head, behind]);
  const shown = first.toString('hex', 0, SHOWN_BYTES);
  throw new InvalidAnswerError(
    `${connection.broker} sent an answer of the size ${size}, and ${least} to ${limit} bytes are taken ` +
      `(it begins with ${shown}): ${usualCause(first)}`,
  );
}

/**
 * Copies bytes of a piece to where they belong: the head of an answer, and then the answer in memory of its size.
 *
 * @returns what is left of the piece
 * @throws InvalidAnswerError when no answer can have the size in the head
 */
function take(connection: Connection, under: Incoming, piece: Buffer, limit: number): Buffer {
  const copied = piece.copy(under.answer ?? under.head, under.come);
  const rest = piece.subarray(copied);
  under.come += copied;
  if (under.answer === null && under.come === SIZE_BYTES) {
    const bytes = SIZE_BYTES + answerSize(connection, under.head, rest, limit);
    under.answer = answerMemory.take(bytes).subarray(0, bytes);
    under.head.copy(under.answer);
  }
  return rest;
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

/** The answer under way, where all of it has come: the next one begins behind it. */
function wholeAnswer(under: Incoming): Buffer | null {
  const { answer } = under;
  if (answer === null || under.come < answer.length) {
    return null;
  }
  under.answer = null;
  under.come = 0;
  return answer;
}

/** Nothing of a piece is left behind when it returns, or throws what a listener of an answer threw first. */
function takeAnswers(connection: Connection, piece: Buffer, limit: number): void {
  const under = incomingOf(connection);
  const failures: unknown[] = [];
  for (let rest = piece; rest.length > 0; ) {
    try {
      rest = take(connection, under, rest, limit);
    } catch (error) {
      refuseConnection(connection, error as Error);
      return;
    }
    const answer = wholeAnswer(under);
    try {
      if (answer !== null) {
        deliver(connection, answer);
      }
    } catch (error) {
      // No fault of the broker, and none of the answers behind it.
      failures.push(error);
    }
  }
  if (failures.length > 0) {
    throw failures[0];
  }
}

function refuseConnection(connection: Connection, error: Error): void {
  refused.set(connection.socket, error);
  incoming.delete(connection.socket);
  connection.authHandlers?.onError();
  connection.socket.destroy(error);
}

/**
 * Takes answers apart within a bound. As shipped the size that an answer begins with is believed: one of 2^31-1, as of
 * a web server, is waited for until the memory ends, and one of -1 ends the process. What is no answer closes the
 * connection, and its requests fail with an error that says what came.
 *
 * Of a piece nothing is kept but copies, so a socket may read the next one into the same memory. As shipped pieces are
 * kept, and joined into new memory, and what is behind an answer once more.
 *
 * @param limit bytes that an answer may have. @default half of the memory limit
 */
export function boundAnswers(prototype: Connection, limit = answerLimit()): void {
  prototype.processData = function processBounded(this: Connection, piece) {
    if (refused.has(this.socket)) {
      return;
    }
    if (this.authHandlers && !this.authExpectResponse) {
      this.authHandlers.onSuccess(Buffer.from(piece));
      return;
    }
    takeAnswers(this, piece, limit);
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

/**
 * Memory of answers. Between two answers no more lies ready than answers under way may take.
 *
 * Why nobody reads what the next answer is written to: each answer has separate memory from its first byte on. It
 * goes back by one call alone, that of the loop which has sent the fetch, after it took the whole answer. At that time
 * kafkajs has handed the answer over and keeps nothing of it, and each record set was copied out before anything was
 * made of it. Where taking it failed, where the request had timed out, was given up or was no fetch, nothing goes
 * back.
 */
export const answerMemory = new MemoryPool(processMemory.bytesUnderWay);
