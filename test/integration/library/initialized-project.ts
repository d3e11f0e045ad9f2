import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../synthesis/checkout.ts';
import { documentedExample, type PackedProduct } from './packed-product.ts';

const TEMPLATE = 'node_modules/cdk8s-cli/templates/typescript-app';
/** What `cdk8s init` writes; the rest of the template is its own. */
const WRITTEN = ['cdk8s.yaml', 'jest.config.js', 'main.test.ts', 'main.ts', 'package.json', 'tsconfig.json'];
/** The oldest compiler that docs/library.md promises; the template has another one. */
const OLDEST_COMPILER = 'typescript-oldest@npm:typescript@5.4';

/** The version of a package of ours, for the template's placeholder of it. */
const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as { version: string }).version;

/**
 * The project that `cdk8s init typescript-app` makes in the folder `theirs`, with the consumers of docs/library.md in its chart, and
 * all that it needs installed.
 *
 * @returns its folder, which is removed with the packed product
 */
export async function initializeProject({ folder, tarball }: PackedProduct): Promise<string> {
  const project = join(folder, 'theirs');
  const values: Record<string, string> = {
    $base: 'theirs',
    cdk8s_core_version: versionOf('cdk8s'),
    cdk8s_plus_version: '2.0.0',
    constructs_version: versionOf('constructs'),
    cdk8s_cli_spec: `^${versionOf('cdk8s-cli')}`,
  };
  for (const name of WRITTEN) {
    cpSync(join(TEMPLATE, name), join(project, name));
    const text = readFileSync(join(project, name), 'utf8');
    writeFileSync(
      join(project, name),
      text.replace(/\{\{ (\S+) \}\}/g, (_, key: string) => values[key] ?? key),
    );
  }
  useLibrary(join(project, 'main.ts'));
  const args = ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', tarball, OLDEST_COMPILER];
  insist(await run('npm', args, project));
  return project;
}

/** The loop of the example in docs/library.md, in the chart of the template. */
function useLibrary(file: string): void {
  const [loop = ''] = /^for \([\s\S]*?^\}$/m.exec(documentedExample()) ?? [];
  const imports = documentedExample().match(/^import .* from 'stream-consumer';$/m)?.[0] ?? '';
  const text = readFileSync(file, 'utf8')
    .replace('// define resources here', loop.replaceAll('(chart,', '(this,'))
    .replace('App, Chart, ChartProps', 'App, Chart, ChartProps, JsonPatch');
  writeFileSync(file, `${imports}\n${text}`);
}

/** Node.js 26, from npm. */
export async function node26(folder: string): Promise<string> {
  const { stdout, ...rest } = await run('npx', ['--yes', 'node@26', '--print', 'process.execPath'], folder);
  insist({ stdout, ...rest });
  return stdout.trim();
}

function insist({ code, stdout, stderr }: Awaited<ReturnType<typeof run>>): void {
  if (code !== 0) {
    throw new Error(`npm ended with ${code}:\n${stdout}${stderr}`);
  }
}
