import { isUtf8 } from 'node:buffer';
import {
  COLON,
  COMMA,
  FIRST_BEYOND_ASCII,
  LIST_BEGIN,
  LIST_END,
  OBJECT_BEGIN,
  OBJECT_END,
  QUOTE,
} from '../../records/ascii.ts';
import type { FieldPath } from '../mapping/table-mapping.ts';
import { FieldTree, NO_NODE, type OnUnmapped, ROOT } from './field-tree.ts';
import {
  asciiEnd,
  byteAt,
  escapeEnd,
  holdsNul,
  INVALID,
  isNul,
  type JsonFault,
  type JsonKind,
  jsonFaultOf,
  kindAt,
  NESTED_TOO_DEEP,
  numberEnd,
  runEnd,
  spaceEnd,
  unescaped,
  wordEnd,
} from './json-lexer.ts';

/**
 * Objects and lists within each other, at most; the same for each server. PostgreSQL takes what its stack takes: 14,545
 * to 16,360 (versions 13 and 18, x86-64, the default `max_stack_depth` of 2 MB). One that takes less refuses the row.
 */
export const MOST_NESTED = 10_000;

const ABSENT = -1;
/** In place of a list's position, in an object. */
const IN_OBJECT = -2;

/**
 * Finds values in JSON documents by their paths, without making strings or objects of anything: what is found is a
 * slice of the document's bytes, with the digits as they were sent. All of the document is read, so what is no JSON for
 * PostgreSQL's `jsonb` (documentation, 8.14) is known before it is sent: such a record is for the dead letters.
 * What was found stays until the next document. Nothing is allocated for a document, unless a name has escapes.
 */
export class JsonScanner {
  readonly #tree: FieldTree;
  /** By node: where the value begins and ends, and whether it is a string with escapes. */
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  readonly #escaped: Uint8Array;
  /** Of the objects and lists around: the node, and the position in a list. */
  readonly #nodes = new Int32Array(MOST_NESTED + 1);
  readonly #positions = new Int32Array(MOST_NESTED + 1);
  #json: Buffer = Buffer.alloc(0);
  /** Of the document. */
  #end = 0;
  #depth = 0;
  /** Whether an object or list has just begun. */
  #isOpened = false;
  /** Whether the last string had escapes. */
  #isEscaped = false;
  #hasNul = false;
  /** Whether a string has other characters than those of ASCII, so that its bytes may be no UTF-8. */
  #isBeyondAscii = false;

  /**
   * @param paths may be equal, or begin with another; a path of no parts is the whole value
   * @param onUnmapped called with the name of a field of the row that no path begins with, after the first valid
   * document with it: with at most 100 names in all, and none that is longer than 128 bytes. Called with `null` once
   * there is another one. @default never
   * @param row path of the object whose fields are the row's. @default the whole value
   */
  constructor(paths: readonly FieldPath[], onUnmapped?: OnUnmapped, row?: FieldPath) {
    this.#tree = new FieldTree(paths, onUnmapped, row);
    this.#starts = new Int32Array(this.#tree.size).fill(ABSENT);
    this.#ends = new Int32Array(this.#tree.size);
    this.#escaped = new Uint8Array(this.#tree.size);
  }

  /**
   * Reads a document. Of equal names the last counts, as in jsonb, and what is in the earlier ones is forgotten.
   *
   * @returns `null`: PostgreSQL's json takes it, and `jsonb` too unless {@link hasNul}. Else the first fault; nothing
   * is found then.
   */
  scan(json: Buffer, start = 0, end = json.length): JsonFault | null {
    this.#begin(json, end);
    const documentEnd = this.#documentEnd(start);
    const isText = !this.#isBeyondAscii || isUtf8(json.subarray(start, end));
    if (documentEnd >= 0 && isText) {
      this.#tree.keepUnmapped(json);
      return null;
    }
    return this.#fault(json.subarray(start, end), documentEnd);
  }

  #fault(json: Buffer, documentEnd: number): JsonFault {
    this.#starts.fill(ABSENT);
    if (!isUtf8(json)) {
      return 'invalid_utf8';
    }
    return this.#hasNul || json.includes(0) ? 'nul_character' : jsonFaultOf(documentEnd);
  }

  /** Whether there is a `\u0000` somewhere: json keeps it as it was sent, jsonb and text refuse it. */
  get hasNul(): boolean {
    return this.#hasNul;
  }

  /** Fields of the row that no path begins with; 0 where the whole value is wanted. */
  get unmappedFields(): number {
    return this.#tree.unmappedFields;
  }

  /** Where the value of the path of this index begins; -1 when it is absent. */
  start(path: number): number {
    return this.#starts[this.#tree.nodes[path] ?? ROOT] ?? ABSENT;
  }

  /** Behind its last byte. */
  end(path: number): number {
    return this.#ends[this.#tree.nodes[path] ?? ROOT] ?? 0;
  }

  /** Whether it is a string with escapes: its content is {@link unescaped}; else what is between its quotes. */
  isEscaped(path: number): boolean {
    return this.#escaped[this.#tree.nodes[path] ?? ROOT] === 1;
  }

  /** What it is; `null` when it is absent. */
  kind(path: number): JsonKind | null {
    const start = this.start(path);
    return start === ABSENT ? null : kindAt(this.#json, start);
  }

  /** Whether there is a `\u0000` in it, also in the name of a field. */
  holdsNul(path: number): boolean {
    return this.#hasNul && this.start(path) !== ABSENT && holdsNul(this.#json, this.start(path), this.end(path));
  }

  #begin(json: Buffer, end: number): void {
    this.#json = json;
    this.#end = end;
    this.#starts.fill(ABSENT);
    this.#depth = 0;
    this.#isOpened = false;
    this.#hasNul = false;
    this.#isBeyondAscii = false;
    this.#tree.forgetUnmapped();
  }

  #documentEnd(start: number): number {
    const json = this.#json;
    const end = this.#end;
    let at = this.#value(spaceEnd(json, start, end), ROOT);
    while (this.#depth > 0 && at >= 0) {
      at = this.#next(spaceEnd(json, at, end));
    }
    return at < 0 || spaceEnd(json, at, end) === end ? at : INVALID;
  }

  /** The end of the innermost object or list, or of its next value; of the beginning, when that is one itself. */
  #next(at: number): number {
    const isObject = this.#positions[this.#depth] === IN_OBJECT;
    const byte = byteAt(this.#json, at, this.#end);
    if (byte === (isObject ? OBJECT_END : LIST_END)) {
      return this.#close(at + 1);
    }
    if (this.#isOpened) {
      this.#isOpened = false;
      return isObject ? this.#member(at) : this.#element(at);
    }
    if (byte !== COMMA) {
      return INVALID;
    }
    const next = spaceEnd(this.#json, at + 1, this.#end);
    return isObject ? this.#member(next) : this.#element(next);
  }

  #value(at: number, node: number): number {
    const byte = byteAt(this.#json, at, this.#end);
    if (byte === OBJECT_BEGIN || byte === LIST_BEGIN) {
      return this.#open(at, node, byte === OBJECT_BEGIN ? IN_OBJECT : ABSENT);
    }
    const end = this.#scalarEnd(at, byte);
    if (node >= 0) {
      this.#starts[node] = at;
      this.#ends[node] = end;
      this.#escaped[node] = byte === QUOTE && this.#isEscaped ? 1 : 0;
    }
    return end;
  }

  #scalarEnd(at: number, byte: number): number {
    if (byte === QUOTE) {
      return this.#stringEnd(at + 1);
    }
    // Letters are behind all that a number begins with.
    return byte > COLON ? wordEnd(this.#json, at, this.#end) : numberEnd(this.#json, at, this.#end);
  }

  /** @param at behind the opening quote */
  #stringEnd(at: number): number {
    const json = this.#json;
    const behind = this.#end;
    this.#isEscaped = false;
    let end = asciiEnd(json, at, behind);
    while (byteAt(json, end, behind) !== QUOTE) {
      if (byteAt(json, end, behind) >= FIRST_BEYOND_ASCII) {
        this.#isBeyondAscii = true;
      } else {
        this.#isEscaped = true;
        this.#hasNul ||= isNul(json, end, behind);
        end = escapeEnd(json, end, behind);
        if (end < 0) {
          return end;
        }
      }
      end = this.#isBeyondAscii ? runEnd(json, end, behind) : asciiEnd(json, end, behind);
    }
    return end + 1;
  }

  #open(at: number, node: number, position: number): number {
    if (this.#depth === MOST_NESTED) {
      return NESTED_TOO_DEEP;
    }
    if (node >= 0) {
      this.#starts[node] = at;
      this.#escaped[node] = 0;
    }
    this.#depth += 1;
    this.#nodes[this.#depth] = node;
    this.#positions[this.#depth] = position;
    this.#isOpened = true;
    return at + 1;
  }

  #close(end: number): number {
    const node = this.#nodes[this.#depth] ?? NO_NODE;
    if (node >= 0) {
      this.#ends[node] = end;
    }
    this.#depth -= 1;
    this.#isOpened = false;
    return end;
  }

  #element(at: number): number {
    const node = this.#nodes[this.#depth] ?? NO_NODE;
    const position = (this.#positions[this.#depth] ?? 0) + 1;
    this.#positions[this.#depth] = position;
    return this.#value(at, node < 0 ? NO_NODE : this.#tree.at(node, position));
  }

  #member(at: number): number {
    const json = this.#json;
    const end = this.#end;
    if (byteAt(json, at, end) !== QUOTE) {
      return INVALID;
    }
    const nameEnd = this.#stringEnd(at + 1);
    if (nameEnd < 0) {
      return nameEnd;
    }
    const colon = spaceEnd(json, nameEnd, end);
    if (byteAt(json, colon, end) !== COLON) {
      return INVALID;
    }
    const node = this.#nodes[this.#depth] ?? NO_NODE;
    const child = this.#tree.hasNames(node) ? this.#named(node, at, nameEnd) : NO_NODE;
    return this.#value(spaceEnd(json, colon + 1, end), child);
  }

  /** The node that a name leads to. What an earlier one in the same object led to is forgotten. */
  #named(parent: number, start: number, end: number): number {
    const child = this.#isEscaped
      ? this.#unescapedNamed(parent, start, end)
      : this.#tree.named(parent, this.#json, start + 1, end - 1);
    if (child >= 0) {
      if (this.#starts[child] !== ABSENT) {
        this.#starts.fill(ABSENT, child, this.#tree.lastBelow[child]);
      }
    } else if (parent === this.#tree.row) {
      this.#tree.addUnmapped(child, start, end);
    }
    return child;
  }

  #unescapedNamed(parent: number, start: number, end: number): number {
    const name = unescaped(this.#json, start, end);
    return this.#tree.named(parent, name, 0, name.length);
  }
}
