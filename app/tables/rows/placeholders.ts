import { createHash } from 'node:crypto';
import { BACKSLASH } from '../../records/ascii.ts';
import { contentOf, type JsonSlice } from '../json/json-slice.ts';

/** What a placeholder begins with where its bytes are written in hex. */
const HEX_PREFIX = 'hex:';

const bytesOfPlaceholder = (unavailableValue: string): Buffer =>
  unavailableValue.startsWith(HEX_PREFIX)
    ? Buffer.from(unavailableValue.slice(HEX_PREFIX.length), 'hex')
    : Buffer.from(unavailableValue, 'utf8');

/** A UUID of a name, of version 3 (RFC 9562, section 5.3), as Java's UUID.nameUUIDFromBytes makes one. */
function uuidOf(name: Buffer): string {
  const digest = createHash('md5').update(name).digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x30, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  return digest.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function addForm(forms: Map<number, readonly Buffer[]>, text: string): void {
  const form = Buffer.from(text, 'utf8');
  forms.set(form.length, [...(forms.get(form.length) ?? []), form]);
}

/**
 * What Debezium sends in place of a large value that an update did not change, in every form that a column may have:
 * text, bytes by `binary.handling.mode`, hstore by `hstore.handling.mode`, and lists of text, numbers or UUIDs. Numeric
 * columns and lists of other elements arrive as NULL, which nothing distinguishes from a value.
 */
export class Placeholders {
  /** As the JsonConverter writes them, by their length in bytes. */
  readonly #forms = new Map<number, readonly Buffer[]>();
  /** As texts of other formats. */
  readonly #texts = new Map<number, readonly Buffer[]>();
  /** What strings hold that are one: the same characters may be escaped in other ways. */
  readonly #contents: ReadonlySet<string>;
  /** Bytes of a string that may hold one: a character takes at most the six of `\\u` and four digits. */
  readonly #longest: number;

  /** @param unavailableValue `unavailable.value.placeholder` of the connector */
  constructor(unavailableValue: string) {
    const bytes = bytesOfPlaceholder(unavailableValue);
    const word = bytes.toString('utf8');
    const pair = JSON.stringify({ [word]: word });
    const contents = [word, bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex'), pair];
    this.#contents = new Set(contents);
    const lists = [[word], [uuidOf(bytes)], [bytes.toString('base64')], [...new Int8Array(bytes)]];
    for (const json of [...[...contents, ...lists].map((form) => JSON.stringify(form)), pair]) {
      addForm(this.#forms, json);
    }
    for (const content of contents) {
      addForm(this.#texts, content);
    }
    this.#longest = 6 * Math.max(...contents.map((content) => content.length));
  }

  /** Whether a value is the placeholder of one that the source did not send. */
  includes(value: JsonSlice): boolean {
    const { bytes, start, end, kind, hasEscapes } = value;
    const forms = (kind === 'text' ? this.#texts : this.#forms).get(end - start);
    if (forms?.some((form) => bytes.compare(form, 0, form.length, start, end) === 0)) {
      return true;
    }
    return hasEscapes && end - start <= this.#longest && hasOtherEscapes(value) && this.#contents.has(contentOf(value));
  }
}

/** Whether a string has escapes that the JsonConverter writes of no placeholder: `\u` and digits, or `\/`. */
function hasOtherEscapes({ bytes, start, end }: JsonSlice): boolean {
  for (let at = start; at < end; at += 1) {
    if (bytes[at] === BACKSLASH) {
      at += 1;
      if (bytes[at] === LOWER_U || bytes[at] === SLASH) {
        return true;
      }
    }
  }
  return false;
}

const SLASH = '/'.charCodeAt(0);
const LOWER_U = 'u'.charCodeAt(0);
