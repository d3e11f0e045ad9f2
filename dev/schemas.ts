/**
 * `npm run schemas`: copies the schemas by which the tests check the manifests from the Go modules that publish them.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { CRD_SOURCES, type CrdSource, KUBERNETES_SOURCES, type OpenApiSource } from './schemas/schema-sources.ts';
import { type Schema, strictDefinitions, strictSchema } from './schemas/strict-schema.ts';

const HELP = `Usage: npm run schemas

Writes test/manifests/schemas/ from the modules and versions that dev/schemas/schema-sources.ts names. Needs Go and the
network; the tests need neither.`;

const FOLDER = join(import.meta.dirname, '..', 'test', 'manifests', 'schemas');

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** The file of one source: its schemas by `apiVersion/kind`, with the definitions that they refer to. */
interface SchemaBundle {
  /** Module and version they were published in. */
  readonly source: string;
  readonly kinds: Readonly<Record<string, unknown>>;
  readonly definitions: Schema;
}

interface Crd {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
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

/** Where Go keeps the module. Go may refuse to build with one that wants a newer Go, but it has unpacked it before. */
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

/** Schemas of Kubernetes' own kinds; `folder` holds the module. */
function openApiBundle(folder: string, { module, version, file, kinds }: OpenApiSource): SchemaBundle {
  const { definitions } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { definitions: Schema };
  return {
    source: `${module}@${version}`,
    kinds: Object.fromEntries(Object.entries(kinds).map(([kind, name]) => [kind, { $ref: `#/definitions/${name}` }])),
    definitions: strictDefinitions(definitions, [...Object.values(kinds), OBJECT_META]),
  };
}

/** A CRD leaves `metadata` open; the API server checks it as that of any other object. */
function customResources(text: string): [string, unknown][] {
  const { spec } = parse(text) as Crd;
  return spec.versions.map(({ name, schema: { openAPIV3Schema } }) => {
    const schema = strictSchema(openAPIV3Schema) as Schema;
    const properties = { ...(schema['properties'] as Schema), metadata: { $ref: `#/definitions/${OBJECT_META}` } };
    return [`${spec.group}/${name}/${spec.names.kind}`, { ...schema, properties }];
  });
}

/** Schemas of custom resources; `metadata` is described as in `kubernetes`. */
function crdBundle(folder: string, source: CrdSource, kubernetes: SchemaBundle): SchemaBundle {
  const kinds = source.files.flatMap((file) => customResources(readFileSync(join(folder, file), 'utf8')));
  return {
    source: `${source.module}@${source.version}`,
    kinds: Object.fromEntries(kinds),
    definitions: strictDefinitions(kubernetes.definitions, [OBJECT_META]),
  };
}

main();
