import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DocumentedClass, documentedClass } from './documented-class.ts';
import type { GeneratedFile } from './generated-files.ts';
import { markdownTable } from './markdown-table.ts';
import { type PropsProperty, type PropsSection, propsSections } from './props.ts';

/** Folder that holds generated files and no others. */
export const API_FOLDER = 'docs/api';

const HEADER = '<!-- Written by npm run generate out of the sources; never edited. -->\n\n';

const CLASSES = [
  'charts/stream-consumer.ts',
  'monitoring/stream-consumer-monitoring.ts',
  'deployment/invalid-consumer-error.ts',
] as const;

const code = (text: string): string => `\`${text}\``;

const withoutLinks = (text: string): string => text.replaceAll(/\{@link (\w+)\}/g, '`$1`');

/** Parameters and what is thrown, as list items; the rest of a doc comment stays text. */
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

function typeCell({ type }: PropsProperty, known: ReadonlySet<string>): string {
  const [only] = type.interfaces;
  return only !== undefined && known.has(only.name) && type.text === only.name
    ? `[${code(only.name)}](#${only.name.toLowerCase()})`
    : code(type.text);
}

function propsSection({ name, about, properties }: PropsSection, known: ReadonlySet<string>): string {
  const rows = properties.map((property) => [
    code(property.key),
    typeCell(property, known),
    property.fallback === undefined ? '**required**' : property.fallback.replace(/^- /, ''),
    [property.description, ...(property.allowed === '' ? [] : [`Allowed: ${property.allowed}.`])].join(' '),
  ]);
  return `## ${name}\n\n${about}\n\n${markdownTable(['Property', 'Type', 'Default', 'Meaning'], rows)}\n`;
}

/** The reference of the library: its classes from their doc comments, its props from the schema. */
export function apiFiles(root: string): readonly GeneratedFile[] {
  const classes = CLASSES.map((path) => documentedClass(readFileSync(join(root, path), 'utf8')));
  const sections = propsSections();
  const known = new Set(sections.map(({ name }) => name));
  const intro =
    "# API\n\nWhat `import ... from 'stream-consumer'` gives; [the props](props.md) have a page of their own.\n\n";
  return [
    { path: `${API_FOLDER}/README.md`, content: `${HEADER}${intro}${classes.map(classSection).join('\n')}` },
    {
      path: `${API_FOLDER}/props.md`,
      content: `${HEADER}# Props\n\nThe content of \`consumer.yaml\`, section by section.\n\n${sections.map((each) => propsSection(each, known)).join('\n')}`,
    },
  ];
}
