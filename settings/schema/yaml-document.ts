import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import type { SettingPath } from './document.ts';

/**
 * Options to parse with. The parser's own search for repeated keys takes the square of their number, its errors and
 * warnings quote the file.
 */
export const YAML_OPTIONS = { prettyErrors: false, uniqueKeys: false, logLevel: 'error' } as const;

/** What is wrong with a file as YAML; never a part of the file, since that may be a secret. */
export interface YamlMistake {
  readonly reason: string;
  /** Character of the file that the mistake is at. */
  readonly offset: number;
}

/** Deeper than any setting; what is nested without end would exhaust the stack. */
const DEEPEST = 64;

/** The parser looks for each of them from the beginning of the document. */
const MOST_ALIASES = 1_000;

const TOO_DEEP = `is nested more than ${DEEPEST} levels deep`;

/** The parser's own messages quote the file. */
const REASON: Readonly<Record<string, string>> = {
  ALIAS_PROPS: 'an alias cannot have an anchor or a tag',
  BAD_ALIAS: 'an anchor or alias has no usable name',
  BAD_COLLECTION_TYPE: 'a tag does not fit the list or map behind it',
  BAD_DIRECTIVE: 'a line that begins with % is no directive',
  BAD_DQ_ESCAPE:
    'a backslash in double quotes begins no known escape; \\\\ is a backslash, and single quotes have none',
  BAD_INDENT: 'the indentation does not fit the lines above',
  BAD_PROP_ORDER: 'an anchor or tag is before the indicator it belongs behind',
  BAD_SCALAR_START: 'a text begins with a character that YAML keeps for itself; put the text into quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'a key and its value are inside of another value on the same line; quotes keep a colon as text',
  BLOCK_IN_FLOW: 'something inside of brackets or braces is not indented, or is a list or map of indented lines',
  DUPLICATE_KEY: 'the same map has a key twice',
  KEY_OVER_1024_CHARS: 'a key has more than 1024 characters',
  MISSING_CHAR: 'a character is missing: a colon, comma, blank, bracket or quote',
  MULTILINE_IMPLICIT_KEY: 'a key goes on over several lines, or a line has no colon with a blank behind it',
  MULTIPLE_ANCHORS: 'a value has more than one anchor',
  MULTIPLE_DOCS: 'there is more than one document',
  MULTIPLE_TAGS: 'a value has more than one tag',
  NON_STRING_KEY: 'a key is no text',
  RESOURCE_EXHAUSTION: TOO_DEEP,
  TAB_AS_INDENT: 'a tab is used as indentation; use blanks',
  TAG_RESOLVE_FAILED: 'a tag is not known or does not fit its value; quotes keep an exclamation mark as text',
  UNEXPECTED_TOKEN: 'something is here that YAML does not allow: the indentation does not fit, or a text needs quotes',
};

const OTHER_REASON = 'it cannot be read from here on';

const LINES_BELOW = 'this line has a value already, and the lines below are indented deeper than its key';

/** Errors in the shape of the lines. */
const OF_SHAPE: ReadonlySet<string> = new Set([
  'BAD_INDENT',
  'BLOCK_AS_IMPLICIT_KEY',
  'BLOCK_IN_FLOW',
  'MISSING_CHAR',
  'MULTILINE_IMPLICIT_KEY',
  'UNEXPECTED_TOKEN',
]);

/** What an error of the parser means, by its code. */
export const yamlReason = (code: string): string => REASON[code] ?? OTHER_REASON;

/** What a walk through a document has met. */
interface Walk {
  readonly mistakes: YamlMistake[];
  readonly anchors: Map<string, Node>;
  aliases: number;
}

const offsetOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);

function readKeys(map: YAMLMap, { mistakes }: Walk): void {
  const seen = new Set<string>();
  for (const { key } of map.items) {
    if (isCollection(key) || isAlias(key)) {
      mistakes.push({ reason: 'a key is a list, a map or an alias', offset: offsetOf(key) });
      continue;
    }
    const name = isScalar(key) ? String(key.value) : '';
    // Several merges may be in one map.
    if (name !== '<<' && seen.has(name)) {
      mistakes.push({ reason: yamlReason('DUPLICATE_KEY'), offset: offsetOf(key) });
    }
    seen.add(name);
  }
}

function readAlias(alias: Node & { readonly source: string }, above: readonly Node[], walk: Walk): void {
  const named = walk.anchors.get(alias.source);
  walk.aliases += 1;
  if (walk.aliases === MOST_ALIASES + 1) {
    walk.mistakes.push({ reason: `there are more than ${MOST_ALIASES} aliases`, offset: offsetOf(alias) });
  }
  if (named === undefined) {
    walk.mistakes.push({ reason: 'an alias names no anchor above it', offset: offsetOf(alias) });
  } else if (above.includes(named)) {
    walk.mistakes.push({ reason: 'an alias is inside of what it names', offset: offsetOf(alias) });
  }
}

function walkInto(node: unknown, above: readonly Node[], walk: Walk): void {
  if (isAlias(node)) {
    readAlias(node, above, walk);
    return;
  }
  if (isScalar(node) || isCollection(node)) {
    const { anchor } = node;
    if (anchor !== undefined) {
      walk.anchors.set(anchor, node);
    }
  }
  if (!isCollection(node)) {
    return;
  }
  if (above.length === DEEPEST) {
    walk.mistakes.push({ reason: TOO_DEEP, offset: offsetOf(node) });
    return;
  }
  const inner = [...above, node];
  if (isMap(node)) {
    readKeys(node, walk);
  }
  for (const part of isMap(node) ? node.items.flatMap(({ key, value }) => [key, value]) : node.items) {
    walkInto(part, inner, walk);
  }
}

/**
 * The mistake that the parser's first error in the shape of the lines was. Of a line that is not indented as those
 * around it the parser says that a key has several lines.
 */
function mistakeOf({ code, pos }: YAMLError, next: YAMLError | undefined): YamlMistake {
  const offset = pos[0];
  if (code !== 'BLOCK_AS_IMPLICIT_KEY' || next?.code !== 'MULTILINE_IMPLICIT_KEY') {
    return { reason: yamlReason(code), offset };
  }
  const isSamePlace = next.pos[0] === offset;
  return isSamePlace ? { reason: LINES_BELOW, offset } : { reason: yamlReason('BAD_INDENT'), offset: next.pos[0] };
}

/**
 * Everything that is wrong with a document that was parsed with {@link YAML_OPTIONS}, in its order. Of what is wrong in
 * the shape of its lines it is the first mistake alone: one line with a wrong indentation makes the parser find more of
 * them in the lines below.
 */
export function yamlMistakes({ errors, contents }: Document): readonly YamlMistake[] {
  if (errors.length > 0) {
    const first = errors.findIndex(({ code }) => OF_SHAPE.has(code));
    return errors.flatMap((error, index) =>
      index === first || !OF_SHAPE.has(error.code) ? [mistakeOf(error, errors[index + 1])] : [],
    );
  }
  const walk: Walk = { mistakes: [], anchors: new Map(), aliases: 0 };
  walkInto(contents, [], walk);
  return walk.mistakes;
}

/** The document as plain data, or why there is none: aliases may multiply without end. */
export function plainData(document: Document): { readonly raw: unknown } | { readonly reason: string } {
  try {
    return { raw: document.toJS() };
  } catch (error) {
    const isAliases = error instanceof ReferenceError;
    return {
      reason: isAliases ? 'its aliases multiply without end' : 'a merge key (<<) has something else than a map',
    };
  }
}

const KEYS = new WeakMap<YAMLMap, ReadonlyMap<string, YAMLMap['items'][number]>>();

/** The pair of a key; the parser's own way through all keys takes the square of their number for a whole map. */
export function pairAt(map: YAMLMap, key: string | number | undefined): YAMLMap['items'][number] | undefined {
  const known =
    KEYS.get(map) ?? new Map(map.items.map((pair) => [String(isScalar(pair.key) ? pair.key.value : ''), pair]));
  KEYS.set(map, known);
  return known.get(String(key));
}

/** The node at a path; `undefined` where there is none, and beyond an alias. */
export function nodeAt(document: Document, path: SettingPath): Node | undefined {
  const node = path.reduce<unknown>((parent, part) => {
    if (isMap(parent)) {
      return pairAt(parent, part)?.value;
    }
    return isSeq(parent) ? parent.items[Number(part)] : undefined;
  }, document.contents);
  return isNode(node) ? node : undefined;
}
