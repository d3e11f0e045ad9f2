import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run } from '../../synthesis/checkout.ts';

const ROOT = resolve('.');

/** What the compiler and `npm pack` read. */
const SOURCES = [
  '.npmrc',
  'LICENSE',
  'README.md',
  'api-extractor.json',
  'app',
  'charts',
  'contract',
  'settings',
  'deployment',
  'dev/image/image-facts.ts',
  'dev/image/layer/bundled-packages.ts',
  'dev/image/layer/software-bill.ts',
  'dev/library.ts',
  'index.ts',
  'monitoring',
  'package-lock.json',
  'package.json',
  'tsconfig.base.json',
  'tsconfig.library.json',
];

/** The product as npm would publish it. */
export interface PackedProduct {
  /** A temporary folder; the caller removes it. */
  readonly folder: string;
  /** The .tgz file. */
  readonly tarball: string;
  /** The bill of materials beside it. */
  readonly bill: string;
  /** Paths of the files in it. */
  readonly files: readonly string[];
}

/**
 * Packs a copy of the sources, so that `prepack` compiles from nothing and leaves the checkout's own build alone.
 *
 * @throws Error with npm's output when that fails
 */
export async function packProduct(): Promise<PackedProduct> {
  const folder = mkdtempSync(join(tmpdir(), 'packed-product-'));
  const sources = join(folder, 'sources');
  mkdirSync(sources);
  for (const name of SOURCES) {
    cpSync(join(ROOT, name), join(sources, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(sources, 'node_modules'));
  const { code, stdout, stderr } = await run('npm', ['pack', '--json', '--pack-destination', folder], sources);
  if (code !== 0) {
    throw new Error(`npm pack ended with ${code}:\n${stdout}${stderr}`);
  }
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [{ filename: string; files: { path: string }[] }];
  const tarball = join(folder, packed.filename);
  return { folder, tarball, bill: tarball.replace(/\.tgz$/, '.cdx.json'), files: packed.files.map(({ path }) => path) };
}

/** The example of docs/library.md, which is what people start from. */
export function documentedExample(): string {
  const [, example] = /```ts\n([\s\S]*?)```/.exec(readFileSync('docs/library.md', 'utf8')) ?? [];
  if (example === undefined) {
    throw new Error('docs/library.md has no TypeScript');
  }
  return example;
}
