import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRODUCT_NAME } from '../../../contract/identity.ts';

/** Name of a bill in the image, and of the one that the image's build leaves in build/image. */
export const SOFTWARE_BILL_FILE = 'sbom.cdx.json';

/** All locked packages: `--omit=dev` also leaves out packages in the bundle that are dev dependencies elsewhere. */
const NPM_SBOM = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly properties?: readonly unknown[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

/** package-lock.json, by the folders of the packages. */
interface Lock {
  readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
}

interface Bill {
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  readonly metadata: {
    readonly component: Component;
    readonly tools?: readonly { readonly version?: string }[];
  };
}

/**
 * The bill of these packages, by name and version; those that depend on another one only through some that are left out
 * lose that link.
 */
function of(bill: Bill, held: ReadonlyMap<string, string | undefined>): Bill {
  const root = bill.metadata.component['bom-ref'];
  const components = bill.components
    .filter(({ name, version }) => held.has(`${name}@${version}`))
    .map((each) => withHash(each, held.get(`${each.name}@${each.version}`)));
  const kept = new Set([root, ...components.map((each) => each['bom-ref'])]);
  const dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) }));
  return { ...bill, components, dependencies };
}

/**
 * The component with the hash of its package in the lock file. Of a package that is another one's content, too, npm
 * reports that one, without a hash.
 */
function withHash({ properties: _ofTheOther, ...component }: Component, integrity: string | undefined): Component {
  const sha512 = Buffer.from(integrity?.replace('sha512-', '') ?? '', 'base64').toString('hex');
  return { ...component, hashes: [{ alg: 'SHA-512', content: sha512 }] };
}

/** A UUID made from the content. */
function contentUuid(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

/** What a bill is of. */
interface Billed {
  /** ISO time that the bill is dated with. */
  readonly created: string;
  /** Folders of the packages of which something is in it, below the checkout. */
  readonly packages: readonly string[];
  /** By CycloneDX's word. */
  readonly type: 'application' | 'library';
}

/** npm's own version is no fact of the product: with it the image's npm and this machine's would make two bills. */
function withoutVersions(tools: Bill['metadata']['tools']): Bill['metadata']['tools'] {
  return tools?.map(({ version: _version, ...tool }) => tool);
}

/**
 * The software bill of materials: the packages of which something is in the image's application layer, or in the
 * library's one file; CycloneDX as npm makes it. npm puts the clock, a random serial number and its folder's name into
 * it; here the same sources give the same bill.
 *
 * @param folder the checkout
 * @throws Error with npm's message when npm fails
 */
export function softwareBill(folder: string, { created, packages, type }: Billed): string {
  const { status, stdout, stderr } = spawnSync('npm', NPM_SBOM, { cwd: folder, encoding: 'utf8', maxBuffer: 1e8 });
  if (status !== 0) {
    throw new Error(`npm ${NPM_SBOM.join(' ')} ended with ${status ?? 'a signal'}:\n${stderr}`);
  }
  const locked = (JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lock).packages;
  const held = new Map(
    packages.map((path) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, path, 'package.json'), 'utf8')) as Component;
      // node_modules may be a link to that of another folder.
      return [`${name}@${version}`, locked[path.slice(path.indexOf('node_modules/'))]?.integrity];
    }),
  );
  const bill = of(JSON.parse(stdout) as Bill, held);
  const component = { ...bill.metadata.component, type, name: PRODUCT_NAME };
  const serialNumber = `urn:uuid:${contentUuid(JSON.stringify([component, bill.components, created]))}`;
  const tools = withoutVersions(bill.metadata.tools);
  const metadata = { ...bill.metadata, ...(tools !== undefined && { tools }), timestamp: created, component };
  return `${JSON.stringify({ ...bill, serialNumber, metadata }, null, 2)}\n`;
}
