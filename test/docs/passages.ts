import { parseSync } from 'oxc-parser';

/** Text that a person reads in one piece. `lines` are as the file has them, and may go on with code and links. */
export interface Passage {
  /** A message is a string of a program: it has no columns, and may be half a sentence. */
  readonly kind: 'paragraph' | 'cell' | 'message';
  /** Where in the file it begins, from 1. */
  readonly line: number;
  readonly lines: readonly string[];
}

interface Line {
  readonly number: number;
  readonly text: string;
}

const BEGINS_PARAGRAPH = /^\s*(#{1,6} |[-*] |\d+\. |> |@)/;
const IS_BETWEEN_PARAGRAPHS = /^\s*(<!--.*-->)?\s*$/;

/** Lines without code blocks, each of which leaves a blank line. */
function withoutCodeBlocks(lines: readonly Line[]): readonly Line[] {
  let isCode = false;
  return lines.map(({ number, text }) => {
    const isFence = /^\s*(```|~~~)/.test(text);
    const isBlank = isCode || isFence;
    isCode = isFence ? !isCode : isCode;
    return { number, text: isBlank ? '' : text };
  });
}

/** Paragraphs, headings, list items and cells of tables, in the order of the lines. */
function passagesOfLines(lines: readonly Line[]): readonly Passage[] {
  const passages: Passage[] = [];
  let paragraph: Line[] = [];
  const end = (): void => {
    if (paragraph[0] !== undefined) {
      passages.push({ kind: 'paragraph', line: paragraph[0].number, lines: paragraph.map(({ text }) => text) });
    }
    paragraph = [];
  };
  for (const line of withoutCodeBlocks(lines)) {
    const isRow = /^\s*\|/.test(line.text);
    const isBetween = IS_BETWEEN_PARAGRAPHS.test(line.text);
    if (isRow || isBetween || BEGINS_PARAGRAPH.test(line.text)) {
      end();
    }
    if (isRow) {
      const cells = line.text.split('|').map((cell) => cell.trim());
      passages.push(...cells.map((cell): Passage => ({ kind: 'cell', line: line.number, lines: [cell] })));
    } else if (!isBetween) {
      paragraph.push(line);
    }
  }
  end();
  return passages;
}

/** What a reader of a document reads. */
export const passagesOfMarkdown = (text: string): readonly Passage[] =>
  passagesOfLines(text.split('\n').map((line, index) => ({ number: index + 1, text: line })));

/** What PostgreSQL reads, and no person. */
const IS_SQL = /^[\s(]*(SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER|CASE|EXISTS|json_build_object)\b/;

interface Literal {
  readonly start: number;
  readonly text: string;
}

interface SyntaxNode {
  readonly type?: string;
  readonly start?: number;
  readonly value?: unknown;
  /** The parts of a template. */
  readonly quasis?: readonly { readonly value: { readonly raw: string } }[];
}

/** Strings and the parts of templates below a node of a syntax tree, but for those of SQL. */
function literalsBelow(node: unknown): readonly Literal[] {
  if (typeof node !== 'object' || node === null) {
    return [];
  }
  const { type, start, value, quasis } = node as SyntaxNode;
  if (IS_SQL.test(typeof value === 'string' ? value : (quasis?.map((part) => part.value.raw).join('') ?? ''))) {
    return [];
  }
  if (type === 'Literal' && typeof value === 'string') {
    return [{ start: start ?? 0, text: value }];
  }
  if (type === 'TemplateElement') {
    return [{ start: start ?? 0, text: (value as { raw: string }).raw }];
  }
  return Object.values(node).flatMap(literalsBelow);
}

/** Comments without their marks, which leave blanks; all other lines are blank. */
function linesOfComments(
  source: readonly string[],
  spans: readonly (readonly [first: number, last: number])[],
): Line[] {
  const marks = /^.*?(\/\*\*?|\/\/)|^\s*\*\/?|\*\/\s*$/g;
  const commented = new Set(
    spans.flatMap(([first, last]) => source.slice(first - 1, last).map((_line, index) => first + index)),
  );
  return source.map((line, index) => ({
    number: index + 1,
    text: commented.has(index + 1) ? line.replaceAll(marks, (mark) => ' '.repeat(mark.length)) : '',
  }));
}

/** The paragraphs of a text such as that of `--help`, and each of its indented entries. */
function entriesOf(lines: readonly string[]): readonly (readonly [index: number, lines: readonly string[]])[] {
  const begins = lines.flatMap((line, index) => (index === 0 || /^( {2,7}\S|\s*$)/.test(line) ? [index] : []));
  return begins.map((begin, at) => [begin, lines.slice(begin, begins[at + 1])] as const);
}

/** Comments, and the strings and parts of templates of three words or more, which a person may read. */
export function passagesOfTypeScript(text: string): readonly Passage[] {
  const { program, comments } = parseSync('file.ts', text);
  const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length;
  const spans = comments.map(({ start, end }) => [lineAt(start), lineAt(end)] as const);
  const messages = literalsBelow(program)
    .filter(({ text: literal }) => literal.trim().split(/\s+/).length > 2)
    .flatMap((literal) =>
      entriesOf(literal.text.split('\n')).map(
        ([index, lines]): Passage => ({ kind: 'message', line: lineAt(literal.start) + index, lines }),
      ),
    );
  return [...passagesOfLines(linesOfComments(text.split('\n'), spans)), ...messages];
}
