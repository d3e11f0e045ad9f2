import { totalmem } from 'node:os';
import { memoryLimit } from '../memory/memory-limit.ts';

/** What is always taken: librdkafka's `receive.message.max.bytes`. */
const LEAST_LIMIT = 100_000_000;
/** The limit where the memory has none, on a machine that has as much. */
const MOST_MEMORY = 2 ** 31;

/**
 * Bytes that an answer of a broker, or a message of PostgreSQL, may have: half of the memory limit. It is in memory
 * twice while its pieces are joined, so a larger one could not be read.
 */
export const answerLimit = (limit: number | null = memoryLimit(), machine: number = totalmem()): number =>
  Math.max(LEAST_LIMIT, Math.floor((limit ?? Math.min(machine, MOST_MEMORY)) / 2));

/** Stable: alerts and runbooks may match it. */
export const INVALID_ANSWER = 'INVALID_ANSWER';

/** A server sent what its protocol does not have, or more than is taken. */
export class InvalidAnswerError extends Error {
  override readonly name = 'InvalidAnswerError';
  readonly code = INVALID_ANSWER;
}

/** Types of records of TLS (RFC 8446, section 5.1): an alert, and the handshake. */
const TYPES_OF_TLS: readonly unknown[] = [0x15, 0x16];

/** Whether bytes are the beginning of a record of TLS: no size or type of another protocol, but for one of 330 MiB. */
export const isTls = (first: Buffer): boolean =>
  TYPES_OF_TLS.includes(first[0]) && first[1] === 3 && Number(first[2]) <= 4;

/** Whether bytes are the beginning of an error of PostgreSQL: its type, a size, and the field of the severity. */
const isErrorOfPostgres = (first: Buffer): boolean => /^E\0\0[\s\S]{2}S/.test(first.toString('latin1'));

/** What usually answers with these first bytes. */
export function usualCause(first: Buffer): string {
  if (first.toString('latin1', 0, 4) === 'HTTP') {
    return 'these are the letters of HTTP, so the port is that of a web server or a proxy';
  }
  if (isErrorOfPostgres(first)) {
    return 'this is an error of PostgreSQL, so the port is that of a PostgreSQL';
  }
  return isTls(first)
    ? 'this is TLS, so the port takes TLS alone'
    : 'a proxy, a wrong port or one that takes TLS alone answers like that';
}

/**
 * The text of an answer of HTTP, of at most so many bytes; the rest is not read.
 *
 * @throws InvalidAnswerError when there are more
 */
export async function limitedText(
  response: { readonly body: AsyncIterable<Uint8Array> | null },
  limit: number,
): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > limit) {
      throw new InvalidAnswerError(
        `answered with more than ${limit} bytes, and no more are read: a proxy or a wrong address answers like that`,
      );
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
