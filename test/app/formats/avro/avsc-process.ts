import avsc from 'avsc';

/** Longs by all their digits: as numbers avsc refuses those beyond 2 ** 53. */
const exactLong = avsc.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return bytes;
  },
  fromJSON: (value: number) => BigInt(value),
  toJSON: (value: bigint) => Number(value),
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (one: bigint, other: bigint) => Number(one > other) - Number(one < other),
});

/** Encodes the values that the parent sends, each by its schema: in a separate process, as avsc generates code. */
process.on('message', (cases: readonly { readonly schema: avsc.Schema; readonly value: unknown }[]) => {
  const encoded = cases.map(({ schema, value }) => {
    const names: Record<string, avsc.Type> = {};
    const typeHook = (given: unknown) => (isLong(given) ? exactLong : undefined);
    return avsc.Type.forSchema(schema, { wrapUnions: true, registry: names, typeHook }).toBuffer(value);
  });
  process.send?.(encoded);
});

const isLong = (given: unknown): boolean =>
  given === 'long' || (typeof given === 'object' && given !== null && 'type' in given && given.type === 'long');
