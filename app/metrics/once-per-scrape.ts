/**
 * Reads once for all sources of a scrape, which are read in one go: the value is kept until everything that follows at once
 * is done.
 */
export function oncePerScrape<Value>(read: () => Value): () => Value {
  let kept: { readonly value: Value } | null = null;
  return () => {
    if (kept === null) {
      kept = { value: read() };
      queueMicrotask(() => {
        kept = null;
      });
    }
    return kept.value;
  };
}
