/** Takes the schemas of Kubernetes objects, by which the tests check the manifests, from the Go modules that publish them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { crdBundle, openApiBundle, type SchemaBundle } from './schemas/schema-bundle.ts';
import { CRD_SOURCES, KUBERNETES_SOURCES } from './schemas/schema-sources.ts';

const HELP = `Usage: npm run schemas

Writes test/manifests/schemas/ from the modules and versions that dev/schemas/schema-sources.ts names. Needs Go and the
network; the tests need neither.`;

const FOLDER = join(import.meta.dirname, '..', 'test', 'manifests', 'schemas');

/** Where Go keeps the module. Go may refuse to build with one that wants a newer Go, but has unpacked it by then. */
function moduleFolder({ module, version }: { readonly module: string; readonly version: string }): string {
  console.log(`${module} ${version}`);
  const { stdout } = spawnSync('go', ['mod', 'download', '-json', `${module}@${version}`], { encoding: 'utf8' });
  const folder = join(execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim(), `${module}@${version}`);
  if (!existsSync(folder)) {
    throw new Error(`Go did not get ${module}@${version}: ${stdout}`);
  }
  return folder;
}

function write(name: string, bundle: SchemaBundle): void {
  writeFileSync(join(FOLDER, `${name}.schema.json`), `${JSON.stringify(bundle)}\n`);
}

function main(): void {
  if (parseArgs({ options: { help: { type: 'boolean', short: 'h' } } }).values.help === true) {
    console.log(HELP);
    return;
  }
  mkdirSync(FOLDER, { recursive: true });
  const [oldest, current] = KUBERNETES_SOURCES;
  const kubernetes = openApiBundle(moduleFolder(current), current);
  write(current.name, kubernetes);
  write(oldest.name, openApiBundle(moduleFolder(oldest), oldest));
  for (const source of CRD_SOURCES) {
    write(source.name, crdBundle(moduleFolder(source), source, kubernetes));
  }
}

main();
