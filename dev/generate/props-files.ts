import { ConsumerFileSchema } from '../../contract/consumer-file.ts';
import type { SchemaNode } from '../../contract/schema-node.ts';
import type { GeneratedFile } from './generated-files.ts';
import { HEADER, kebabCase, type PropsModule, propsInterface } from './props-interface.ts';

/** Folder that holds generated files and no others. */
export const PROPS_FOLDER = 'contract/props';

const ROOT_NAME = 'StreamConsumerProps';

function modules(): readonly PropsModule[] {
  const found: PropsModule[] = [];
  const waiting: PropsModule['interfaces'][number][] = [
    { name: ROOT_NAME, path: [], node: ConsumerFileSchema as SchemaNode },
  ];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const module = propsInterface(next.name, next.path, next.node);
    found.push(module);
    waiting.push(...module.interfaces);
  }
  return found;
}

const fileOf = (name: string): string => `${kebabCase(name)}.ts`;

/** The types of the constructs' props: one file for each section of consumer.yaml, and one that names them all. */
export function propsFiles(): readonly GeneratedFile[] {
  const all = modules().toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const index = all.map(({ name }) => `export type { ${name} } from './${fileOf(name)}';\n`).join('');
  return [
    ...all.map(({ name, text }) => ({ path: `${PROPS_FOLDER}/${fileOf(name)}`, content: text })),
    { path: `${PROPS_FOLDER}/index.ts`, content: `${HEADER}${index}` },
  ];
}
