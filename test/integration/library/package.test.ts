import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { App, Chart } from 'cdk8s';
import { parseAllDocuments } from 'yaml';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { PRODUCT_VERSION } from '../../../contract/product-version.ts';
import * as library from '../../../index.ts';
import { podSpecs, restrictedViolations } from '../../charts/pod-security.ts';
import type { Manifest } from '../../charts/rendered-consumer.ts';
import { manifestProblems } from '../../manifests/manifest-problems.ts';
import { type Finished, run } from '../../synthesis/checkout.ts';
import { longTest } from '../stack/long-test.ts';
import { initializeProject, node26 } from './initialized-project.ts';
import { documentedExample, type PackedProduct, packProduct } from './packed-product.ts';

const SLOW_MACHINE_MS = 180_000;

/** What the consumer's process runs. */
const PROGRAM_ROOMS = ['app', 'contract', 'settings'];
const TEMPLATE = 'node_modules/cdk8s-cli/templates/typescript-app/tsconfig.json';

/** Somebody's own compiler settings for each kind of module; those for CommonJS are what `cdk8s init` writes. */
const COMPILER = {
  module: { target: 'es2022', module: 'nodenext', strict: true, exactOptionalPropertyTypes: true },
  commonjs: (JSON.parse(readFileSync(TEMPLATE, 'utf8')) as { compilerOptions: object }).compilerOptions,
} as const;

let product: PackedProduct;

beforeAll(async () => {
  product = await packProduct();
}, SLOW_MACHINE_MS);

afterAll(() => rmSync(product.folder, { recursive: true, force: true }));

/** What a declaration file imports. */
const importedPackages = (text: string): readonly string[] =>
  [...text.matchAll(/(?:from|import\()\s*["']([^"']+)["']/g)].map(([, name = '']) => name);

const sources = (room: string): string[] =>
  readdirSync(room, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .map((path) => `${room}/${path.slice(0, -'.ts'.length)}`);

describe('the npm package', () => {
  test('holds the program, the library as one file, its types as one, the schemas and the legal texts, and nothing else', () => {
    const ran = PROGRAM_ROOMS.flatMap(sources);
    const schemas = readdirSync('contract/schemas').map((name) => `contract/schemas/${name}`);
    expect(product.files.toSorted()).toEqual(
      [
        ...ran.map((path) => `build/${path}.js`),
        ...schemas,
        'build/THIRD-PARTY-LICENSES.txt',
        'build/index.d.cts',
        'build/index.d.mts',
        'build/library.cjs',
        'build/library.mjs',
        'LICENSE',
        'README.md',
        'package.json',
      ].toSorted(),
    );
  });

  test('has for each way to load it types of the same kind of module, which older compilers insist on', () => {
    const { exports, types } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      readonly exports: {
        readonly '.': Readonly<Record<string, { readonly types: string; readonly default: string }>>;
      };
      readonly types: string;
    };
    const loaded = Object.values(exports['.']).map((way) => [way.types, way.default]);
    expect(loaded).toEqual([
      ['./build/index.d.mts', './build/library.mjs'],
      ['./build/index.d.cts', './build/library.cjs'],
    ]);
    expect(types).toBe('./build/index.d.cts');
  });

  test('has a bill of materials beside it, of the packages that the one file holds code of', () => {
    const bill = JSON.parse(readFileSync(product.bill, 'utf8')) as {
      readonly bomFormat: string;
      readonly metadata: { readonly component: object };
      readonly components: readonly {
        readonly name: string;
        readonly version: string;
        readonly hashes: readonly { readonly content: string }[];
      }[];
    };
    expect(bill).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { type: 'library', name: PRODUCT_NAME, version: PRODUCT_VERSION } },
    });
    const licenses = readFileSync(join(product.folder, 'sources', 'build', 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    const held = [...licenses.matchAll(/^(\S+ \d+\.\d+\.\d+\S*) \(.+\)$/gm)].map(([, name = '']) => name);
    expect(held.length).toBeGreaterThan(3);
    expect(bill.components.map(({ name, version }) => `${name} ${version}`).toSorted()).toEqual(held.toSorted());
    const hashes = bill.components.map((component) => component.hashes.map(({ content }) => content).join());
    expect(hashes.filter((hash) => !/^[0-9a-f]{128}$/.test(hash))).toEqual([]);
  });
});

describe("in somebody's own cdk8s project", () => {
  let folder = '';

  beforeAll(async () => {
    folder = join(product.folder, 'project');
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'theirs', version: '1.0.0', private: true }));
    const args = ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', product.tarball];
    const { code, stderr } = await run('npm', args, folder);
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  }, SLOW_MACHINE_MS);

  /** Compiles the example of docs/library.md as a package of the given kind, and runs it. */
  async function synthesized(type: 'commonjs' | 'module'): Promise<{ compiled: Finished; ran: Finished; out: string }> {
    const consumer = join(folder, type);
    mkdirSync(consumer);
    writeFileSync(join(consumer, 'package.json'), JSON.stringify({ type }));
    writeFileSync(
      join(consumer, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...COMPILER[type], outDir: 'out' }, files: ['app.ts'] }),
    );
    writeFileSync(join(consumer, 'app.ts'), documentedExample());
    const compiled = await run(process.execPath, [resolve('node_modules/typescript/bin/tsc')], consumer);
    const ran = await run(process.execPath, ['out/app.js'], consumer);
    return { compiled, ran, out: join(consumer, 'dist') };
  }

  for (const type of ['module', 'commonjs'] as const) {
    // `cdk8s init` makes the latter; that the library can be imported is the next test.
    const register = type === 'commonjs' ? test : longTest;
    const name = `the example of docs/library.md compiles and synthesizes two consumers: ${type}`;
    const look = async () => {
      const { compiled, ran, out } = await synthesized(type);
      expect(compiled).toEqual({ code: 0, stdout: '', stderr: '' });
      expect(ran).toEqual({ code: 0, stdout: '', stderr: '' });
      const objects = readdirSync(out)
        .flatMap((name) => parseAllDocuments(readFileSync(join(out, name), 'utf8')))
        .map((document) => document.toJS() as Manifest);
      const names = (kind: string) => objects.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name);
      for (const kind of ['Deployment', 'Service', 'ServiceMonitor', 'PrometheusRule']) {
        expect([kind, ...names(kind)]).toEqual([kind, 'orders-consumer', 'payments-consumer']);
      }
      expect(objects.flatMap(manifestProblems)).toEqual([]);
      expect(objects.flatMap(podSpecs).flatMap(restrictedViolations)).toEqual([]);
      for (const deployment of objects.filter(({ kind }) => kind === 'Deployment')) {
        expect(deployment['spec']).toMatchObject({
          template: { spec: { runtimeClassName: 'gvisor' } },
        });
      }
    };
    register(name, look, SLOW_MACHINE_MS);
  }

  test.each([
    ['required', 'require("stream-consumer")'],
    ['imported', 'import("stream-consumer")'],
  ])(
    'is one file beside cdk8s, its types for Kubernetes and constructs, all that is loaded when it is %s',
    async (_, load) => {
      const program = `Promise.resolve(${load}).then((library) => console.log(JSON.stringify([Object.keys(library), Object.keys(require.cache)])))`;
      const { code, stdout } = await run(process.execPath, ['--eval', program], folder);
      const [names, files] = JSON.parse(stdout) as [string[], string[]];
      const own = files.filter((file) => !/node_modules\/(cdk8s|cdk8s-plus-28|constructs)\//.test(file));
      expect([code, own.map((file) => file.slice(folder.length + 1))]).toEqual([
        0,
        ['node_modules/stream-consumer/build/library.cjs'],
      ]);
      expect(names.toSorted()).toEqual(Object.keys(library).toSorted());
    },
  );

  test('refuses wrong props in the words of the sources', async () => {
    const props = { name: 'Orders', replica: 2, pods: { spread: 'yes' }, application: { kafka: { brokers: [] } } };
    const program = `const { App, Chart } = require('cdk8s');
      try { new (require('stream-consumer').StreamConsumer)(new Chart(new App(), 'c'), 'id', ${JSON.stringify(props)}); } catch (error) {
        console.log(JSON.stringify([error.name, error.code, error.message])); }`;
    const { stdout } = await run(process.execPath, ['--eval', program], folder);
    const refused = () => new library.StreamConsumer(new Chart(new App(), 'c'), 'id', props as never);
    const [name, code, message] = JSON.parse(stdout) as string[];
    expect([name, code]).toEqual(['InvalidConsumerError', 'INVALID_CONSUMER']);
    expect(refused).toThrow(message);
  });

  test('the declarations make the compiler read those of cdk8s and constructs, and no others', () => {
    const types = (name: string) =>
      readFileSync(join(folder, 'node_modules', 'stream-consumer', 'build', `index.d.${name}`), 'utf8');
    expect([...new Set(importedPackages(types('cts')))].toSorted()).toEqual(['cdk8s', 'constructs']);
    expect(types('mts')).toBe(types('cts'));
  });

  test('the schemas are found below the package, and nothing that is not meant for others', async () => {
    const names = readdirSync('contract/schemas').map((name) => `stream-consumer/schemas/${name}`);
    const found = (name: string) => run(process.execPath, ['--print', `require.resolve('${name}')`], folder);
    for (const name of [...names, 'stream-consumer/package.json']) {
      expect(await found(name)).toMatchObject({ code: 0, stdout: expect.stringContaining(folder) });
    }
    const { code, stderr } = await found('stream-consumer/build/charts/deployment.js');
    expect([code, stderr]).toEqual([1, expect.stringContaining('ERR_PACKAGE_PATH_NOT_EXPORTED')]);
  });
});

/** Compilers by the name under which npm installs them; the newest one is that of this repository. */
const COMPILERS = { '5.4': 'typescript-5-4', '5.9': 'typescript-5-9', '7': '' } as const;

/** How an app of each kind may resolve the package, beside what `cdk8s init` writes. */
const RESOLUTIONS = [
  ['commonjs', 'commonjs', { module: 'commonjs' }],
  ['commonjs', 'nodenext', { module: 'nodenext' }],
  ['commonjs', 'node16', { module: 'node16' }],
  ['module', 'nodenext', { module: 'nodenext' }],
  ['module', 'node16', { module: 'node16' }],
  ['module', 'bundler', { module: 'esnext', moduleResolution: 'bundler' }],
] as const;

describe('the types', () => {
  longTest(
    'are those of the example of docs/library.md for TypeScript 5.4, 5.9 and 7, however the package is resolved',
    async () => {
      const project = join(product.folder, 'matrix');
      mkdirSync(project);
      writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'matrix', private: true }));
      const others = Object.entries(COMPILERS).flatMap(([version, name]) =>
        name === '' ? [] : [`${name}@npm:typescript@${version}`],
      );
      const args = ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', product.tarball];
      const installed = await run('npm', [...args, ...others], project);
      expect([installed.code, installed.code === 0 ? '' : installed.stderr]).toEqual([0, '']);
      for (const [version, name] of Object.entries(COMPILERS)) {
        const compiler = name === '' ? resolve('node_modules/typescript') : join(project, 'node_modules', name);
        for (const [type, resolution, chosen] of RESOLUTIONS) {
          const app = join(project, [version, type, resolution].join('-'));
          const compilerOptions = { ...chosen, target: 'es2022', strict: true, noEmit: true, types: [] };
          mkdirSync(app);
          writeFileSync(join(app, 'package.json'), JSON.stringify({ type }));
          writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.ts', 'wrong.ts'] }));
          writeFileSync(join(app, 'app.ts'), documentedExample());
          writeFileSync(
            join(app, 'wrong.ts'),
            "import type { StreamConsumerProps } from 'stream-consumer';\n// @ts-expect-error a word that no props have\nexport const props: Partial<StreamConsumerProps> = { replica: 1 };\n",
          );
          const { code, stdout } = await run(process.execPath, [join(compiler, 'bin/tsc')], app);
          expect([version, type, resolution, code, stdout]).toEqual([version, type, resolution, 0, '']);
        }
      }
    },
  );
});

describe('in what cdk8s init makes', () => {
  // The newest TypeScript is ours, which compiles the example above.
  longTest(
    'its Jest, its compiler and its synth take the library on Node.js 20 and 26, by TypeScript 5.4 and its own',
    async () => {
      const project = await initializeProject(product);
      for (const node of [process.execPath, await node26(project)]) {
        for (const [program, ...args] of [
          ['jest/bin/jest.js', '--ci=false', '--no-cache'],
          ['ts-node/dist/bin.js', 'main.ts'],
        ]) {
          const { code, stdout, stderr } = await run(node, [`node_modules/${program}`, ...args], project);
          expect([program, code, code === 0 ? '' : stdout + stderr]).toEqual([program, 0, '']);
        }
        const objects = parseAllDocuments(readFileSync(join(project, 'dist', 'theirs.k8s.yaml'), 'utf8'));
        expect(objects.map((each) => (each.toJS() as Manifest).kind)).toContain('Deployment');
      }
      for (const compiler of ['typescript', 'typescript-oldest']) {
        const { code, stdout } = await run(process.execPath, [`node_modules/${compiler}/bin/tsc`, '--noEmit'], project);
        expect([compiler, code, stdout]).toEqual([compiler, 0, '']);
      }
    },
  );
});
