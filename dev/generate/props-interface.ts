import { docComment } from './doc-comment.ts';
import type { PropsProperty, PropsSection } from './props-sections.ts';

export const HEADER = "// Written by npm run generate out of consumer.yaml's schema; never edited.\n";

/** Name of the file of an interface, without its ending. */
export const kebabCase = (name: string): string => name.replaceAll(/(?<=.)[A-Z]/g, '-$&').toLowerCase();

/** A key as TypeScript writes it: Spring's own names have dashes. */
const propertyName = (key: string): string => (/^\w+$/.test(key) ? key : `'${key}'`);

const importLine = (name: string): string => `import type { ${name} } from './${kebabCase(name)}.ts';\n`;

function propertyText({ key, type, description, allowed, fallback }: PropsProperty): string {
  const paragraphs = [
    description,
    ...(allowed === '' ? [] : [`Allowed: ${allowed}.`]),
    ...(fallback === undefined ? [] : [`@default ${fallback}`]),
  ];
  const optional = fallback === undefined ? '' : '?';
  return `${docComment(paragraphs, '  ')}\n  readonly ${propertyName(key)}${optional}: ${type.text};`;
}

/** The interface of a section as a TypeScript module: each property with its description, what is allowed, its default. */
export function propsInterface({ name, about, properties }: PropsSection): string {
  const names = new Set(properties.flatMap(({ type }) => type.interfaces.map((each) => each.name)));
  return [
    HEADER,
    [...names].toSorted().map(importLine).join(''),
    `\n${docComment([about], '')}\nexport interface ${name} {\n`,
    `${properties.map(propertyText).join('\n\n')}\n}\n`,
  ].join('');
}
