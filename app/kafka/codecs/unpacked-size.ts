/** Content becomes more bytes than it may. */
export class OversizedError extends Error {
  override readonly name = 'OversizedError';

  constructor(limit: number) {
    super(`it unpacks to more than ${limit} bytes (consumer.maxUnpackedBytes)`);
  }
}

/** Bytes that content has become so far, whatever a header says of it. */
export class UnpackedSize {
  readonly #limit: number;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws OversizedError when there are more than the limit */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limit) {
      throw new OversizedError(this.#limit);
    }
  }
}
