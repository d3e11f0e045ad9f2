import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Text of a file below the repository's root. */
export const read = (path: string): string => readFileSync(path, 'utf8');

/** Pages that a reader of the repository opens: README.md and all below docs/. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))
    .toSorted(),
];

/** All documents with links. */
export const DOCUMENTS: readonly string[] = [...PAGES, 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'];

const withoutCode = (text: string): string => text.replaceAll(/^```[\s\S]*?^```/gm, '');

/** Targets of links and pictures, as they are written. */
export const linksIn = (text: string): readonly string[] =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);

/** A heading as GitHub makes an anchor of it: lower case, without punctuation, a dash for each blank. */
const slug = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Anchors of all headings; one that comes again has a number. */
export function anchorsIn(text: string): readonly string[] {
  const seen = new Map<string, number>();
  return [...withoutCode(text).matchAll(/^#{1,6} (.+?) *$/gm)].map(([, heading = '']) => {
    const anchor = slug(heading);
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
}
