import {
  type Class,
  type ClassElement,
  type Comment,
  type MethodDefinition,
  type ParamPattern,
  parseSync,
  type Span,
} from 'oxc-parser';

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

/** A syntax tree with the text and the comments that it was read from. */
interface Source {
  readonly text: string;
  readonly comments: readonly Comment[];
}

const textOf = ({ text }: Source, { start, end }: Span): string => text.slice(start, end);

/** The doc comment right before a node, without its asterisks; lines of one paragraph stay lines. */
function docOf({ text, comments }: Source, { start }: Span): string {
  const before = comments.findLast(({ end }) => end <= start);
  if (before === undefined || !before.value.startsWith('*') || text.slice(before.end, start).trim() !== '') {
    return '';
  }
  const lines = before.value.slice(1).split('\n');
  return lines
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim();
}

function membersOf(source: Source, { body }: Class): DocumentedMember[] {
  return body.body.flatMap((node) => {
    if (node.type !== 'PropertyDefinition' || !node.readonly || node.accessibility || node.key.type !== 'Identifier') {
      return [];
    }
    const type = node.typeAnnotation?.typeAnnotation ?? node.value;
    return [{ name: node.key.name, type: type ? textOf(source, type) : '', doc: docOf(source, node) }];
  });
}

/** As written, but a pattern that takes its argument apart is called `props`. */
function parameterOf(source: Source, parameter: ParamPattern): string {
  const written =
    parameter.type === 'ObjectPattern' && parameter.typeAnnotation
      ? `props${textOf(source, parameter.typeAnnotation)}`
      : textOf(source, parameter);
  return written.replaceAll(/\s+/g, ' ');
}

const isConstructor = (each: ClassElement): each is MethodDefinition =>
  each.type === 'MethodDefinition' && each.kind === 'constructor';

function partsOf(source: Source, declared: Class): Omit<DocumentedClass, 'doc'> {
  const made = declared.body.body.find(isConstructor);
  return {
    name: declared.id?.name ?? '',
    base: declared.superClass ? textOf(source, declared.superClass) : '',
    members: membersOf(source, declared),
    parameters: made?.value.params.map((each) => parameterOf(source, each)).join(', '),
    constructorDoc: made === undefined ? '' : docOf(source, made),
  };
}

/**
 * Reads the one exported class of a source file.
 *
 * @throws Error when there is none, or the file is no TypeScript
 */
export function documentedClass(text: string): DocumentedClass {
  const { program, comments, errors } = parseSync('class.ts', text);
  const [error] = errors;
  if (error !== undefined) {
    throw new Error(`cannot be read: ${error.message}`);
  }
  const source = { text, comments };
  for (const node of program.body.filter((each) => each.type === 'ExportNamedDeclaration')) {
    if (node.declaration?.type === 'ClassDeclaration' && node.declaration.superClass !== null) {
      return { doc: docOf(source, node), ...partsOf(source, node.declaration) };
    }
  }
  throw new Error('no exported class that extends another');
}
