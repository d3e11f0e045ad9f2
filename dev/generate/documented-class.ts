/** A member of a class, with its doc comment. */
interface DocumentedMember {
  readonly name: string;
  readonly type: string;
  readonly doc: string;
}

/** A class as its source declares and documents it. */
export interface DocumentedClass {
  readonly name: string;
  /** What it extends. */
  readonly base: string;
  readonly doc: string;
  /** Its public readonly properties, in their order. */
  readonly members: readonly DocumentedMember[];
  /** The constructor's parameters as written; `undefined` for a class that inherits it. */
  readonly parameters: string | undefined;
  readonly constructorDoc: string;
}

const DOC = String.raw`(?:/\*\*((?:(?!\*/)[\s\S])*)\*/\s*)?`;

/** The text of a doc comment without its asterisks; lines of one paragraph stay lines. */
const textOf = (comment: string | undefined): string =>
  (comment ?? '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim();

function membersOf(body: string): DocumentedMember[] {
  const member = new RegExp(`${DOC}^  (?:override )?readonly (\\w+)(?:: ([^;=]+?))?(?: = ([^;]+))?;$`, 'gm');
  return [...body.matchAll(member)].map(([, doc, name = '', type, value]) => ({
    name,
    type: type ?? value ?? '',
    doc: textOf(doc),
  }));
}

/**
 * Reads the one exported class of a source file that is formatted as this project's are.
 *
 * @throws Error when there is none
 */
export function documentedClass(source: string): DocumentedClass {
  const declared = new RegExp(`${DOC}^export class (\\w+) extends (\\w+)[^{]*\\{\\n([\\s\\S]*?)^\\}`, 'm').exec(source);
  if (declared === null) {
    throw new Error('no exported class that extends another');
  }
  const [, doc, name = '', base = '', body = ''] = declared;
  const [head = '', constructorDoc, parameters] = splitAtConstructor(body);
  return {
    name,
    base,
    doc: textOf(doc),
    members: membersOf(head),
    parameters: parameters
      ?.replaceAll(/\s+/g, ' ')
      .replaceAll(/\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}: /g, 'props: ')
      .trim(),
    constructorDoc: textOf(constructorDoc),
  };
}

function splitAtConstructor(body: string): readonly [string, string | undefined, string | undefined] {
  const found = new RegExp(`${DOC}^  constructor\\(([\\s\\S]*?)\\) \\{$`, 'm').exec(body);
  return found === null ? [body, undefined, undefined] : [body.slice(0, found.index), found[1], found[2]];
}
