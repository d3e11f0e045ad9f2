import { isDeepStrictEqual } from 'node:util';
import { type KubernetesObject, type Manifest, objectTitle, readManifests } from './manifest.ts';

/** An object that is in only one of two folders (`before` or `after` is missing) or differs. */
export interface ObjectChange {
  readonly before?: Manifest;
  readonly after?: Manifest;
}

/** A ConfigMap with other content has another name; it is still compared with the one that it replaces. */
const withoutHash = (object: KubernetesObject): string => objectTitle(object).replace(/-[0-9a-f]{10}$/, '');

interface Pairing {
  readonly pairs: readonly { readonly before: Manifest; readonly after: Manifest }[];
  readonly before: readonly Manifest[];
  readonly after: readonly Manifest[];
}

/** Finds what belongs together by a key that both sides have once. */
function pair(
  before: readonly Manifest[],
  after: readonly Manifest[],
  keyOf: (o: KubernetesObject) => string,
): Pairing {
  const matches = before.map((each) => ({
    before: each,
    after: after.find(({ object }) => keyOf(object) === keyOf(each.object)),
  }));
  const pairs = matches.flatMap((match) => (match.after === undefined ? [] : [{ ...match, after: match.after }]));
  return {
    pairs,
    before: before.filter((each) => pairs.every((found) => found.before !== each)),
    after: after.filter((each) => pairs.every((found) => found.after !== each)),
  };
}

/**
 * What happens to the objects of a folder when another folder takes its place.
 *
 * @returns the changes in the order of the old objects, then of the new ones; empty when the objects are equal
 * @throws Error when a file in one of them is not YAML
 */
export function objectChanges(published: string, rendered: string): ObjectChange[] {
  const same = pair(readManifests(published), readManifests(rendered), objectTitle);
  const renamed = pair(same.before, same.after, withoutHash);
  return [
    ...same.pairs.filter(({ before, after }) => !isDeepStrictEqual(before.object, after.object)),
    ...renamed.pairs,
    ...renamed.before.map((before) => ({ before })),
    ...renamed.after.map((after) => ({ after })),
  ];
}
