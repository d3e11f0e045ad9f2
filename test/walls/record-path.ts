import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const [, section = ''] = read('CONTRIBUTING.md').split('## The path of a record\n');
const [list = ''] = section.split('\n## ');

/** The files that a record passes, as CONTRIBUTING.md lists them. */
export const PATH = [...list.matchAll(/^\d+\. \[`([^`]+)`\]/gm)].map(([, file = '']) => file);
