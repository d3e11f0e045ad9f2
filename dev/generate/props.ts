import { ConsumerFileSchema } from '../../deployment/consumer-file.ts';
import { camelCase, isMandatory, type SchemaNode } from '../../settings/schema/schema.ts';
import { defaultText, docComment, type PropsType, propertyName, propsType } from './typescript-text.ts';

/** A file with its current content. */
export interface GeneratedFile {
  /** Below the repository's root. */
  readonly path: string;
  readonly content: string;
}

/** One property of a section of consumer.yaml, as the constructs' props have it. */
export interface PropsProperty {
  readonly key: string;
  readonly type: PropsType;
  readonly description: string;
  /** Allowed values in words; empty where the type says it. */
  readonly allowed: string;
  /** The default as cdk8s-plus writes it: a literal, or a dash and words; `undefined` for a required property. */
  readonly fallback: string | undefined;
}

/** One section of consumer.yaml: an interface of the constructs' props. */
export interface PropsSection {
  readonly name: string;
  /** Keys from the root of consumer.yaml; empty for the whole file. */
  readonly path: readonly string[];
  readonly about: string;
  readonly properties: readonly PropsProperty[];
}

const HEADER = "// Written by npm run generate out of consumer.yaml's schema; never edited.\n";

/** The end of a description that says what holds without the property. */
const LEFT_OUT = /(?:^|[.;:] )[Ll]eft out: ([^;]+?)(?:[.;](?: |$)|$)/;

function fallback(node: SchemaNode, path: readonly string[]): string {
  if (node.default !== undefined) {
    return defaultText(node);
  }
  const described = LEFT_OUT.exec(node.description ?? '')?.[1];
  if (described === undefined) {
    throw new Error(
      `${path.join('.')} may be left out, and nothing says what happens then: give it a default, or end its description with "Left out: ..."`,
    );
  }
  return `- ${described}`;
}

function allowed({ 'x-allowed': words, minimum, maximum }: SchemaNode): string {
  return words ?? (minimum === undefined || maximum === undefined ? '' : `${minimum} to ${maximum}`);
}

const description = (node: SchemaNode, path: readonly string[]): string =>
  node.description ?? `\`${path.join('.')}\` of consumer.yaml.`;

function property(parent: SchemaNode, key: string, node: SchemaNode, path: readonly string[]): PropsProperty {
  return {
    key: camelCase(key),
    type: propsType(node, path),
    description: description(node, path),
    allowed: allowed(node),
    fallback: isMandatory(parent, key) ? undefined : fallback(node, path),
  };
}

function section({ name, path, node }: PropsType['interfaces'][number]): PropsSection {
  return {
    name,
    path,
    about: path.length === 0 ? 'The content of consumer.yaml, as the props of a construct.' : description(node, path),
    properties: Object.entries(node.properties ?? {}).map(([key, child]) => property(node, key, child, [...path, key])),
  };
}

/**
 * All sections of consumer.yaml, the whole file first.
 *
 * @param root the schema. @default consumer.yaml's
 * @throws Error when a property may be left out and nothing says what happens then
 */
export function propsSections(root: SchemaNode = ConsumerFileSchema as SchemaNode): readonly PropsSection[] {
  const found: PropsSection[] = [];
  const waiting: PropsType['interfaces'][number][] = [{ name: 'StreamConsumerProps', path: [], node: root }];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const made = section(next);
    found.push(made);
    waiting.push(...made.properties.flatMap(({ type }) => type.interfaces));
  }
  return found;
}

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
  path: 'deployment/generated/props.ts',
  content: [HEADER, ...propsSections().map(propsInterface)].join('\n'),
});
