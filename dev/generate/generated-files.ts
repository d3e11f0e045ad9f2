import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SchemaNode } from '../../settings/schema/schema.ts';
import { SettingsSchema } from '../../settings/settings.ts';
import { API_FOLDER, apiFiles } from './api-files.ts';
import {
  alertsTable,
  exitCodesTable,
  fatalCodesList,
  firingTable,
  metricsTable,
  replaceSection,
  settingsTable,
} from './document-tables.ts';
import { kubernetesTypesFile } from './kubernetes-types.ts';
import { type GeneratedFile, propsFile } from './props.ts';
import { consumerFileSchema, environmentFileSchema, publishSchema, schemaText } from './schema-files.ts';

const DOCUMENTS = [
  'docs/settings.md',
  'docs/metrics.md',
  'docs/monitoring.md',
  'docs/messages.md',
  'docs/operate.md',
] as const;

function schemaFiles(): readonly GeneratedFile[] {
  const settings = SettingsSchema as SchemaNode;
  const application = publishSchema(settings, { isPartial: true, nullRemoves: false, isRelaxed: true });
  return [
    { path: 'contract/schemas/application.schema.json', content: schemaText(application) },
    { path: 'contract/schemas/consumer.schema.json', content: schemaText(consumerFileSchema()) },
    { path: 'contract/schemas/environment.schema.json', content: schemaText(environmentFileSchema()) },
  ];
}

/** The package's version and address as constants, so that no construct has to read package.json. */
function versionFile(root: string): GeneratedFile {
  const { version, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
    repository: { url: string };
  };
  const address = repository.url.replace(/^git\+|\.git$/g, '');
  return {
    path: 'contract/product-version.ts',
    content: `// Written by npm run generate out of package.json; never edited.

/** Version of the package: \`app.kubernetes.io/version\`, and the image's tag unless another is asked for. */
export const PRODUCT_VERSION = '${version}';

/** Address of the repository, which pages, alerts and the log link to. */
export const REPOSITORY_URL = '${address}';
`,
  };
}

function documentFile(root: string, path: string): GeneratedFile {
  const text = readFileSync(join(root, path), 'utf8');
  const tables = {
    settings: settingsTable(),
    metrics: metricsTable(),
    alerts: alertsTable(),
    'firing-alerts': firingTable(),
    'fatal-codes': fatalCodesList(),
    'exit-codes': exitCodesTable(),
  };
  return {
    path,
    content: Object.entries(tables).reduce((whole, [name, table]) => replaceSection(whole, name, table), text),
  };
}

/**
 * All files that are generated or have generated sections.
 *
 * @param root folder of the repository, with the hand-written text of the documents
 */
export function generatedFiles(root: string): readonly GeneratedFile[] {
  const documents = DOCUMENTS.filter((path) => existsSync(join(root, path)));
  return [
    ...schemaFiles(),
    versionFile(root),
    propsFile(),
    kubernetesTypesFile(),
    ...apiFiles(root),
    ...documents.map((path) => documentFile(root, path)),
  ];
}

/** The generated files that are missing or out of date. */
export function outdatedFiles(root: string): readonly GeneratedFile[] {
  return generatedFiles(root).filter(({ path, content }) => {
    const file = join(root, path);
    return !existsSync(file) || readFileSync(file, 'utf8') !== content;
  });
}

/** Files of docs/api that are generated no more. */
export function staleFiles(root: string): readonly string[] {
  const generated = new Set(generatedFiles(root).map(({ path }) => path));
  const folder = join(root, API_FOLDER);
  return (existsSync(folder) ? readdirSync(folder) : [])
    .map((name) => `${API_FOLDER}/${name}`)
    .filter((path) => !generated.has(path));
}
