/** Messages within each other that an index leads through. */
const MOST_INDEXES = 100;

/**
 * Which message of its schema a value is, as Confluent's serializers write it behind the schema id: a number of indexes
 * and then each, in zigzag coding; one that is 0 in all is the first message (Confluent, "Wire format").
 */
export class MessageIndex {
  /** Behind the indexes that were read last. */
  at = 0;
  /** The indexes. */
  path: readonly number[] = FIRST;

  /** @returns whether indexes are the first of the bytes from `start` up to `end` */
  read(bytes: Buffer, start: number, end: number): boolean {
    this.at = start;
    this.path = FIRST;
    const count = this.#number(bytes, end);
    if (count === 0) {
      return true;
    }
    if (!(count > 0 && count <= MOST_INDEXES)) {
      return false;
    }
    this.path = Array.from({ length: count }, () => this.#number(bytes, end));
    return this.path.every((index) => index >= 0);
  }

  /** @returns negative where there is none, or none below 2 ** 20 */
  #number(bytes: Buffer, end: number): number {
    let value = 0;
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = this.at < end ? (bytes[this.at] ?? 0) : 255;
      this.at += 1;
      value |= (byte & 127) << shift;
      if (byte < 128) {
        return (value & 1) === 0 ? value >>> 1 : -1;
      }
    }
    return -1;
  }
}

const FIRST: readonly number[] = [0];
