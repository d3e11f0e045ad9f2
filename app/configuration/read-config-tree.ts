import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SchemaNode } from '../../settings/schema/schema.ts';
import { readText } from '../credentials/named-file.ts';
import type { SettingValue } from './merge-values.ts';
import { bindKey, convert } from './relaxed-binding.ts';

/** A mounted directory of secret files. */
export interface ConfigTree {
  /** The values of the files that name a setting. */
  readonly values: readonly SettingValue[];
  /** The content of the file with a dotted name, for placeholders; `undefined` when there is none. */
  readonly lookup: (name: string) => string | undefined;
}

/** Deeper than any setting; a symbolic link to a folder above is not followed for ever. */
const DEEPEST = 8;

function listFiles(folder: string, prefix: string, depth: number): readonly (readonly [string, string])[] {
  if (depth > DEEPEST) {
    return [];
  }
  // Kubernetes keeps the real files in folders such as ..data, with links to them beside these folders.
  const names = readdirSync(folder).filter((name) => !name.startsWith('..'));
  return names.sort().flatMap((name) => {
    const path = join(folder, name);
    const dotted = prefix === '' ? name : `${prefix}.${name}`;
    return statSync(path).isDirectory() ? listFiles(path, dotted, depth + 1) : [[dotted, path] as const];
  });
}

const readSecret = (path: string): string => readText(path).replace(/\r?\n$/, '');

/**
 * Reads a config tree: a file's path below the folder, with its slashes as dots, is the name of a setting
 * (`database/password` or `database.password`), and its content without the last line break is the value.
 *
 * @throws the file system's error when the folder or a file that names a setting cannot be read.
 */
export function readConfigTree(schema: SchemaNode, folder: string): ConfigTree {
  const files = listFiles(folder, '', 1);
  const values = files.flatMap(([name, path]): readonly SettingValue[] => {
    const bound = bindKey(schema, name);
    return bound.schema === undefined || bound.schema.type === 'object'
      ? []
      : [
          {
            path: bound.segments,
            value: convert(bound.schema, readSecret(path)),
            source: `config tree file ${path}`,
          },
        ];
  });
  const paths = new Map(files);
  const lookup = (name: string): string | undefined => {
    const path = paths.get(name);
    return path === undefined ? undefined : readSecret(path);
  };
  return { values, lookup };
}
