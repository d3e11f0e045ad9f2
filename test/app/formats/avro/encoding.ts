/** An int or a long of Avro, or a count or an index; beyond 64 bits, too. */
export function long(value: number | bigint): Buffer {
  const exact = BigInt(value);
  const bytes: number[] = [];
  let rest = exact >= 0n ? exact * 2n : -exact * 2n - 1n;
  for (; rest >= 128n; rest >>= 7n) {
    bytes.push(Number(rest & 127n) + 128);
  }
  return Buffer.from([...bytes, Number(rest)]);
}

/** A `bytes` or a `string`. */
export function text(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([long(bytes.length), bytes]);
}

export const joined = (...parts: readonly Buffer[]): Buffer => Buffer.concat(parts);
