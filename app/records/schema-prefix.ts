/** What serializers of a schema registry write before a value: a byte of 0, and the schema's id in four bytes. */
export const PREFIX_BYTES = 5;
/** What the prefix begins with. */
export const SCHEMA_ID_FOLLOWS = 0;

/** More about bytes that are not the JSON that they have to be; `undefined`: they do not look like anything else. */
export const wordsOfJson = (bytes: Buffer, start: number, end: number): string | undefined =>
  end - start >= PREFIX_BYTES && bytes[start] === SCHEMA_ID_FOLLOWS
    ? 'its value begins with 0x00, as one with a schema id does: is its format registry?'
    : undefined;
