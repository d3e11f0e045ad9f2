/** What was read longer ago than this is read at once: nobody scrapes regularly then. */
const OLDEST_MS = 60_000;

/**
 * Reads a figure that hardly changes once a scrape is answered, for the next one: what takes files of the kernel takes longer than
 * all the counting, and so nobody waits for it. The first value, and one after a pause of a minute, is read when it is asked for.
 *
 * @param read must not throw
 * @param now Milliseconds of a clock that never goes back. @default performance.now()
 */
export function readAhead<Value>(read: () => Value, now: () => number = () => performance.now()): () => Value {
  const readNow = () => ({ value: read(), at: now() });
  let known: ReturnType<typeof readNow> | null = null;
  let isReading = false;
  return () => {
    const kept = known !== null && now() - known.at <= OLDEST_MS ? known : readNow();
    known = kept;
    if (!isReading) {
      isReading = true;
      setImmediate(() => {
        known = readNow();
        isReading = false;
      });
    }
    return kept.value;
  };
}
