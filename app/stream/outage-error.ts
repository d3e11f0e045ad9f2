/**
 * Something outside is away or busy and will come back. Nothing is known about the outcome of what was tried: a
 * transaction may have been committed, so the stored position has to be read again before the next write.
 */
export class OutageError extends Error {
  override readonly name = 'OutageError';
}
