import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Class,
  type ClassElement,
  type Comment,
  type MethodDefinition,
  type ParamPattern,
  parseSync,
  type Span,
} from 'oxc-parser';
import { markdownTable } from './document-tables.ts';
import { type GeneratedFile, type PropsProperty, type PropsSection, propsSections } from './props.ts';

/** A folder of generated files only. */
export const API_FOLDER = 'docs/api';

const HEADER = '<!-- Written by npm run generate out of the sources; never edited. -->\n\n';

const CLASSES = [
  'charts/stream-consumer.ts',
  'monitoring/stream-consumer-monitoring.ts',
  'deployment/invalid-consumer-error.ts',
] as const;

const code = (text: string): string => `\`${text}\``;

const withoutLinks = (text: string): string => text.replaceAll(/\{@link (\w+)\}/g, '`$1`');

/** A doc comment with its `@param` and `@throws` as list items. */
const tagsAsList = (doc: string): string =>
  withoutLinks(doc)
    .replaceAll(/^@param (\w+) (.*)$/gm, '- `$1`: $2')
    .replaceAll(/^@throws (\w+) (.*)$/gm, '- throws `$1` $2');

function classSection({ name, base, doc, members, parameters, constructorDoc }: DocumentedClass): string {
  const signature =
    parameters === undefined ? '' : `\`\`\`ts\nnew ${name}(${parameters})\n\`\`\`\n\n${tagsAsList(constructorDoc)}\n\n`;
  const rows = members.map((member) => [code(member.name), code(member.type), withoutLinks(member.doc)]);
  const table = markdownTable(['Property', 'Type', 'What it is'], rows);
  return `## ${name}\n\nExtends \`${base}\`. ${withoutLinks(doc)}\n\n${signature}${table}\n`;
}

/** Sections of consumer.yaml with a page each, the inner ones first; all others are on the first page. */
const PAGE_SECTIONS = [
  'application.database',
  'application.management',
  'application.tables',
  'application',
  'database',
  'kafka',
  'monitoring',
  'networkPolicy',
  'scaling',
] as const;

/** The page, in the folder of the reference, that a section of consumer.yaml is on. */
function pageOf(path: readonly string[]): string {
  const section = PAGE_SECTIONS.find((each) => `${path.join('.')}.`.startsWith(`${each}.`));
  return section === undefined
    ? 'props.md'
    : `props-${section.replaceAll(/[A-Z.]/g, (sign) => (sign === '.' ? '-' : `-${sign.toLowerCase()}`))}.md`;
}

/** The page of each section's interface. */
type Pages = ReadonlyMap<string, string>;

function typeCell({ type }: PropsProperty, page: string, pages: Pages): string {
  const [only] = type.interfaces;
  const there = only === undefined ? undefined : pages.get(only.name);
  const isLink = only !== undefined && [only.name, `readonly ${only.name}[]`].includes(type.text);
  return isLink && there !== undefined
    ? `[${code(only.name)}](${there === page ? '' : there}#${only.name.toLowerCase()})`
    : code(type.text);
}

function propsSection({ name, about, path, properties }: PropsSection, pages: Pages): string {
  const rows = properties.map((property) => [
    code(property.key),
    typeCell(property, pageOf(path), pages),
    property.fallback === undefined ? '**required**' : property.fallback.replace(/^- /, ''),
    [property.description, ...(property.allowed === '' ? [] : [`Allowed: ${property.allowed}.`])].join(' '),
  ]);
  return `## ${name}\n\n${about}\n\n${markdownTable(['Property', 'Type', 'Default', 'Meaning'], rows)}\n`;
}

function propsPage(page: string, sections: readonly PropsSection[], pages: Pages): GeneratedFile {
  const [{ path = [] } = {}] = sections;
  const intro =
    path.length === 0
      ? '# Props\n\nThe content of `consumer.yaml`, section by section.\n\n'
      : `# Props: ${code(path.join('.'))}\n\nA part of [\`consumer.yaml\`](props.md), section by section.\n\n`;
  const content = `${HEADER}${intro}${sections.map((each) => propsSection(each, pages)).join('\n')}`;
  return { path: `${API_FOLDER}/${page}`, content };
}

/** The props out of the schema: a page for the whole file, and one for each section that has its own. */
function propsPages(): readonly GeneratedFile[] {
  const sections = propsSections();
  const pages = new Map(sections.map(({ name, path }) => [name, pageOf(path)]));
  return [...new Set(pages.values())].map((page) =>
    propsPage(
      page,
      sections.filter(({ name }) => pages.get(name) === page),
      pages,
    ),
  );
}

/** The reference of the library: classes from their doc comments, props from the schema. */
export function apiFiles(root: string): readonly GeneratedFile[] {
  const classes = CLASSES.map((path) => documentedClass(readFileSync(join(root, path), 'utf8')));
  const intro =
    "# API\n\nWhat `import ... from 'stream-consumer'` gives; [the props](props.md) have pages of their own.\n\n";
  return [
    { path: `${API_FOLDER}/README.md`, content: `${HEADER}${intro}${classes.map(classSection).join('\n')}` },
    ...propsPages(),
  ];
}

/** A member of a class, with its doc comment. */
interface DocumentedMember {
  readonly name: string;
  readonly type: string;
  readonly doc: string;
}

/** A class as its source declares and documents it. */
interface DocumentedClass {
  readonly name: string;
  /** Its base class. */
  readonly base: string;
  readonly doc: string;
  /** Its public readonly properties, in their order. */
  readonly members: readonly DocumentedMember[];
  /** The constructor's parameters as written; `undefined` for a class that inherits it. */
  readonly parameters: string | undefined;
  readonly constructorDoc: string;
}

/** The text of a source file, and the comments in it. */
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

/** A parameter as written, with the name `props` for a destructuring pattern. */
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
