import { nearestKey, type Problem } from '../schema/problem.ts';

/** Names and list positions from an object down to a value. */
export type FieldPath = readonly (string | number)[];

/**
 * Where a column's value comes from: a field of the record's value, the record key or a field of it, a header, a part
 * of a change event beside its row, or what Kafka says of the record. A path of no parts is the whole.
 */
export type ColumnSource =
  | { readonly kind: 'field'; readonly path: FieldPath }
  | { readonly kind: 'key'; readonly path: FieldPath }
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'event'; readonly path: FieldPath }
  | { readonly kind: 'topic' | 'partition' | 'offset' | 'timestamp' };

/** What is wrong with the text of a source. */
type SourceMistake = Pick<Problem, 'message' | 'allowed' | 'nearest'>;

type SourceReading = { readonly source: ColumnSource } | { readonly mistake: SourceMistake };

type PathReading = { readonly path: FieldPath } | { readonly mistake: SourceMistake };

const mistake = (message: string, allowed: string) => ({ mistake: { message, allowed } });

/** Words without a path: Kafka says them of every record. */
const ALONE = ['topic', 'partition', 'offset', 'timestamp'] as const;

const WORDS = ['$value', '$key', '$header', '$op', '$source', ...ALONE.map((word) => `$${word}`)];

const WORDS_ALLOWED =
  '$value, $key, $key.<field>, $header.<name>, $topic, $partition, $offset, $timestamp, and of a change event $op or $source.<field>; a field whose name begins with $ ' +
  'is written as a JSON Pointer, such as /$id';

const PATH_ALLOWED =
  'names with a dot between each two, such as customer.name; any other name, and list positions, as a JSON Pointer, such as /a.b/0';

/** Nine digits: a longer list fits into no record. */
const LIST_POSITION = /^(?:0|[1-9]\d{0,8})$/;

/** RFC 6901, sections 3 and 4. */
function readPointer(text: string): PathReading {
  if (/~(?![01])/.test(text)) {
    return mistake('has a ~ that is neither ~0 nor ~1', 'a JSON Pointer (RFC 6901): ~0 is ~, and ~1 is /');
  }
  const path = text
    .split('/')
    .slice(1)
    .map((part) => (LIST_POSITION.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~')));
  return { path };
}

function readPath(text: string): PathReading {
  if (text.startsWith('/')) {
    return readPointer(text);
  }
  const path = text.split('.');
  if (path.includes('')) {
    return mistake('has a dot without a name on one of its sides', PATH_ALLOWED);
  }
  return /[[\]]/.test(text) ? mistake('has brackets', PATH_ALLOWED) : { path };
}

function atPath(kind: 'field' | 'key', text: string): SourceReading {
  const read = readPath(text);
  return 'path' in read ? { source: { kind, path: read.path } } : read;
}

/** A part of what Debezium says of the row that was changed. */
function ofEvent(text: string): SourceReading {
  const read = text === '' ? { path: [] } : readPath(text);
  return 'path' in read ? { source: { kind: 'event', path: ['source', ...read.path] } } : read;
}

function unknownWord(word: string): SourceReading {
  const nearest = nearestKey(word, WORDS);
  const unknown = { message: 'begins with a $ word that is not known', allowed: WORDS_ALLOWED };
  return { mistake: nearest === undefined ? unknown : { ...unknown, nearest } };
}

/** @param rest what follows the word: nothing, or a dot or slash and what is behind it */
function readWord(word: string, rest: string): SourceReading {
  const kind = ALONE.find((each) => word === `$${each}`);
  if (kind !== undefined) {
    return rest === '' ? { source: { kind } } : mistake(`has a path behind ${word}, which is no object`, word);
  }
  switch (word) {
    case '$value':
      return rest === ''
        ? { source: { kind: 'field', path: [] } }
        : mistake('has a path behind $value', '$value alone; the path of a field is written without it');
    case '$key':
      return rest === '' ? { source: { kind: 'key', path: [] } } : atPath('key', rest.replace(/^\./, ''));
    case '$op':
      return rest === ''
        ? { source: { kind: 'event', path: ['op'] } }
        : mistake('has a path behind $op, which is no object', '$op');
    case '$source':
      return ofEvent(rest.replace(/^\./, ''));
    case '$header':
      return rest.startsWith('.') && rest.length > 1
        ? { source: { kind: 'header', name: rest.slice(1) } }
        : mistake('names no header', '$header.<name>');
    default:
      return unknownWord(word);
  }
}

function read(text: string): SourceReading {
  const [, word, rest = ''] = /^(\$[^./]*)(.*)$/s.exec(text) ?? [];
  return word === undefined ? atPath('field', text) : readWord(word, rest);
}

/** What is wrong with the path of a field of the value; `undefined` where nothing is. */
export function fieldMistake(text: string): SourceMistake | undefined {
  return text.startsWith('$')
    ? { message: 'begins with $, and is no field of the value', allowed: `${PATH_ALLOWED}; /$id for a field $id` }
    : sourceMistake(text);
}

/** What is wrong with the text of a source; `undefined` where nothing is. */
export function sourceMistake(text: string): SourceMistake | undefined {
  const found = read(text);
  return 'mistake' in found ? found.mistake : undefined;
}

/**
 * The source that a text of the settings names. It is a path through objects (`customer.name`), or a JSON Pointer (RFC
 * 6901), in which a number is a list position (`/lines/0/sku`). Or it is `$value`, `$key`, `$key` and a path
 * (`$key.id`, `$key/a.b`), `$header.` and a name, `$topic`, `$partition`, `$offset`, `$timestamp`, `$op`, or `$source`
 * and a path.
 *
 * @throws RangeError for a text that the check of the settings refuses
 */
export function parseSource(text: string): ColumnSource {
  const found = read(text);
  if ('mistake' in found) {
    throw new RangeError(`a source of a column ${found.mistake.message}: ${found.mistake.allowed}`);
  }
  return found.source;
}

/**
 * The path of a field of the value.
 *
 * @throws RangeError for a text that the check of the settings refuses
 */
export function parseField(text: string): FieldPath {
  const source = parseSource(text);
  if (source.kind !== 'field') {
    throw new RangeError(`${text} is no field of the value`);
  }
  return source.path;
}

/** Names that a path of dots has room for. */
const PLAIN_NAME = /^[^$./[\]][^./[\]]*$/;

/** A path as the settings take it: with dots, or as a JSON Pointer (RFC 6901). */
export function pathText(path: FieldPath): string {
  const isPlain = path.every((part) => typeof part === 'string' && PLAIN_NAME.test(part));
  const pointer = path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`);
  return isPlain ? path.join('.') : pointer.join('');
}
