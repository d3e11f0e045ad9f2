import { existsSync } from 'node:fs';
import { join, parse, sep } from 'node:path';
import { MASK, shownKey } from '../../settings/shown-value.ts';

/** No operating system takes a longer path. */
const LONGEST = 4_096;

/**
 * A path as a message may show it. What exists is a path beyond doubt and no secret; of what does not, the parts are
 * shown that are harmless names, since the text may be something else than a path: a key, or a whole file pasted.
 *
 * @param folder what a relative path begins at
 */
export function shownFile(path: string, folder: string): string {
  if (path.length > LONGEST) {
    return MASK;
  }
  const { root } = parse(path);
  const parts = path.slice(root.length).split(sep);
  let place = root === '' ? folder : root;
  const shown = parts.map((part) => {
    place = join(place, part);
    return existsSync(place) ? part : shownKey(part, ['application.yml']);
  });
  return `${root}${shown.join(sep)}`;
}
