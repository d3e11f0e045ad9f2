import { type Document, isCollection, isMap, isNode, type LineCounter, type Node } from 'yaml';
import { nodeAt, pairAt } from '../../settings/yaml-document.ts';

/** Keys and list positions as the YAML has them, before they are bound to settings. */
export type RawPath = readonly (string | number)[];

/** A YAML document, the lines of its file and the file's name for messages. */
export interface LocatedDocument {
  readonly document: Document;
  readonly lines: LineCounter;
  readonly name: string;
}

/** A character of the file as `application.yml:3:9`. */
export function placeOf({ lines, name }: LocatedDocument, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${name}:${line}:${col}`;
}

/** The node to point at: a scalar itself, of a section its key, of what an alias brings in the alias. */
function pointedAt(document: Document, path: RawPath): Node | undefined {
  const node = nodeAt(document, path);
  if (node !== undefined && !isCollection(node)) {
    return node;
  }
  const parent = nodeAt(document, path.slice(0, -1));
  const key = isMap(parent) ? pairAt(parent, path.at(-1))?.key : undefined;
  return isNode(key) ? key : node;
}

/** Where a value stands; for what a merge key or an alias brings in, the nearest place above it. */
export function placeOfValue(located: LocatedDocument, path: RawPath): string {
  for (let length = path.length; length > 0; length -= 1) {
    const range = pointedAt(located.document, path.slice(0, length))?.range;
    if (range !== undefined && range !== null) {
      return placeOf(located, range[0]);
    }
  }
  return located.name;
}
