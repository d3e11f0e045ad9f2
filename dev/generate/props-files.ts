import type { GeneratedFile } from './generated-files.ts';
import { HEADER, kebabCase, propsInterface } from './props-interface.ts';
import { propsSections } from './props-sections.ts';

/** Folder that holds generated files and no others. */
export const PROPS_FOLDER = 'contract/props';

const fileOf = (name: string): string => `${kebabCase(name)}.ts`;

/** The types of the constructs' props: one file for each section of consumer.yaml, and one that names them all. */
export function propsFiles(): readonly GeneratedFile[] {
  const sections = propsSections().toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const index = sections.map(({ name }) => `export type { ${name} } from './${fileOf(name)}';\n`).join('');
  return [
    ...sections.map((section) => ({
      path: `${PROPS_FOLDER}/${fileOf(section.name)}`,
      content: propsInterface(section),
    })),
    { path: `${PROPS_FOLDER}/index.ts`, content: `${HEADER}${index}` },
  ];
}
