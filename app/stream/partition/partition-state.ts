/**
 * What becomes of a batch.
 *
 * - `unopened`: the position was not read yet; a batch is ignored
 * - `open`: a batch that continues `position` is queued; `isFull` while the source is paused for the sake of memory
 * - `searching`: the broker does not hold the position, and why is being found out, or the batch there cannot be read,
 *   and is fetched again later; what is queued is written meanwhile
 * - `recovering`: the outcome of a transaction is not known, or another writer was first; nothing is queued, and the
 *   stored position is being read
 * - `ended`: nothing is taken in, sought or resumed any more
 *
 * Only `open` takes anything in.
 */
export type StreamState =
  | { readonly kind: 'unopened' }
  | { readonly kind: 'open'; readonly position: bigint; readonly isFull: boolean }
  | { readonly kind: 'searching' }
  | { readonly kind: 'recovering' }
  | { readonly kind: 'ended' };

const STREAM_TRANSITIONS: Readonly<Record<StreamState['kind'], readonly StreamState['kind'][]>> = {
  unopened: ['open', 'ended'],
  open: ['open', 'searching', 'recovering', 'ended'],
  searching: ['open', 'recovering', 'ended'],
  recovering: ['open', 'ended'],
  ended: ['ended'],
};

/**
 * The state that follows.
 *
 * @throws Error when there is no way there: a mistake in the program, never in its input
 */
export function requireTransition(from: StreamState, to: StreamState): StreamState {
  if (!STREAM_TRANSITIONS[from.kind].includes(to.kind)) {
    throw new Error(`partition stream: there is no way from ${from.kind} to ${to.kind}`);
  }
  return to;
}
