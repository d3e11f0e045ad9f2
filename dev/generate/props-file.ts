import { docComment } from './doc-comment.ts';
import type { GeneratedFile } from './generated-files.ts';
import { type PropsProperty, type PropsSection, propsSections } from './props.ts';
import { propertyName } from './props-literal.ts';

const HEADER = "// Written by npm run generate out of consumer.yaml's schema; never edited.\n";

function propertyText({ key, type, description, allowed, fallback }: PropsProperty): string {
  const paragraphs = [
    description,
    ...(allowed === '' ? [] : [`Allowed: ${allowed}.`]),
    ...(fallback === undefined ? [] : [`@default ${fallback}`]),
  ];
  const optional = fallback === undefined ? '' : '?';
  return `${docComment(paragraphs, '  ')}\n  readonly ${propertyName(key)}${optional}: ${type.text};`;
}

/** The interface of a section: each property with its description, what is allowed, its default. */
export function propsInterface({ name, about, properties }: PropsSection): string {
  return `${docComment([about], '')}\nexport interface ${name} {\n${properties.map(propertyText).join('\n\n')}\n}\n`;
}

/** The types of the constructs' props: an interface for each section of consumer.yaml, the whole file first. */
export const propsFile = (): GeneratedFile => ({
  path: 'deployment/props.ts',
  content: [HEADER, ...propsSections().map(propsInterface)].join('\n'),
});
