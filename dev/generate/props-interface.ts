import { isFreeMap, isMandatory, type SchemaNode } from '../../contract/schema-node.ts';
import { docComment } from './doc-comment.ts';
import { type PropsType, propsType } from './props-type.ts';

const LEFT_OUT = /(?:^|[.;:] )[Ll]eft out: ([^;]+?)(?:[.;](?: |$)|$)/;

/** What a property is when it is left out, as cdk8s-plus writes it: a literal, or a dash and words. */
function defaultTag(node: SchemaNode, path: readonly string[]): string {
  if (node.properties !== undefined && !isFreeMap(node) && node.default !== undefined) {
    return '@default - the default of each property';
  }
  if (node.default !== undefined) {
    const text = JSON.stringify(node.default);
    return `@default ${typeof node.default === 'string' ? `'${node.default}'` : text}`;
  }
  const described = LEFT_OUT.exec(node.description ?? '')?.[1];
  if (described === undefined) {
    throw new Error(
      `${path.join('.')} may be left out, and nothing says what happens then: give it a default, or end its description with "Left out: ..."`,
    );
  }
  return `@default - ${described}`;
}

const allowed = (node: SchemaNode): readonly string[] => {
  const words = node['x-allowed'];
  return words === undefined ? [] : [`Allowed: ${words}.`];
};

function range({ minimum, maximum }: SchemaNode): readonly string[] {
  return minimum === undefined || maximum === undefined ? [] : [`Allowed: ${minimum} to ${maximum}.`];
}

function description(node: SchemaNode, path: readonly string[]): string {
  return node.description ?? `\`${path.join('.')}\` of consumer.yaml.`;
}

/** An interface as a TypeScript module, and what else it names. */
export interface PropsModule {
  readonly name: string;
  readonly text: string;
  readonly interfaces: PropsType['interfaces'];
}

export const HEADER = "// Written by npm run generate out of consumer.yaml's schema; never edited.\n";

export const kebabCase = (name: string): string => name.replaceAll(/(?<=.)[A-Z]/g, '-$&').toLowerCase();

/** A key as TypeScript writes it: Spring's own names have dashes. */
const propertyName = (key: string): string => (/^\w+$/.test(key) ? key : `'${key}'`);

const importLine = (name: string): string => `import type { ${name} } from './${kebabCase(name)}.ts';\n`;

/**
 * The interface of one section of consumer.yaml: each property with its description, what is allowed, and its default.
 *
 * @param path where the section is; empty for the whole file
 * @throws Error when a property may be left out and nothing says what happens then
 */
export function propsInterface(name: string, path: readonly string[], node: SchemaNode): PropsModule {
  const properties = Object.entries(node.properties ?? {}).map(([key, child]) => {
    const type = propsType(child, [...path, key]);
    const optional = !isMandatory(node, key);
    const where = [...path, key];
    const paragraphs = [
      description(child, where),
      ...allowed(child),
      ...range(child),
      ...(optional ? [defaultTag(child, where)] : []),
    ];
    const text = `${docComment(paragraphs, '  ')}\n  readonly ${propertyName(key)}${optional ? '?' : ''}: ${type.text};`;
    return { text, interfaces: type.interfaces };
  });
  const interfaces = properties.flatMap((each) => each.interfaces);
  const imports = [...new Set(interfaces.map((each) => importLine(each.name)))].toSorted().join('');
  const about =
    path.length === 0 ? 'The content of consumer.yaml, as the props of a construct.' : description(node, path);
  const text = [
    HEADER,
    imports === '' ? '\n' : `${imports}\n`,
    `${docComment([about], '')}\nexport interface ${name} {\n`,
    `${properties.map((each) => each.text).join('\n\n')}\n}\n`,
  ].join('');
  return { name, text, interfaces };
}
