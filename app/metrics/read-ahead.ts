/**
 * Reads a figure that hardly changes once a scrape is answered, for the next one: what takes files of the kernel takes longer than
 * all the counting, and so nobody waits for it. Only the first value is read when it is asked for.
 */
export function readAhead<Value>(read: () => Value): () => Value {
  let known: { readonly value: Value } | null = null;
  let isReading = false;
  return () => {
    known ??= { value: read() };
    if (!isReading) {
      isReading = true;
      setImmediate(() => {
        known = { value: read() };
        isReading = false;
      });
    }
    return known.value;
  };
}
