import { accepts, formatMediaRange, isConcrete, type MediaRange, parseMediaRange } from './accept-header.ts';

/** A list of types that the server can produce, the one it prefers first. */
export function producible(...types: readonly string[]): readonly MediaRange[] {
  return types.map(parseMediaRange).filter((type) => type !== undefined);
}

/**
 * The content type to answer with: what the client asked for, parameters included, where it asked for a certain type,
 * else the first of ours that it takes.
 *
 * @param ranges What the client accepts, best first.
 * @param types What can be produced, preferred first; a wildcard in it stands for whatever the client names.
 * @returns `undefined` when nothing that can be produced is acceptable.
 */
export function negotiate(ranges: readonly MediaRange[], types: readonly MediaRange[]): string | undefined {
  for (const range of ranges) {
    for (const type of types) {
      if (accepts(range, type)) {
        const chosen = isConcrete(range) ? range : type;
        if (isConcrete(chosen)) {
          return formatMediaRange(chosen);
        }
      }
    }
  }
  return undefined;
}
