import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRODUCT_NAME } from '../../contract/identity.ts';

/** All locked packages: `--omit=dev` also leaves out production dependencies that are dev dependencies elsewhere. */
const NPM_SBOM = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
}

interface Bill {
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  readonly metadata: { readonly component: Component };
}

/** The bill of these direct dependencies and all that they depend on. */
function reachable(bill: Bill, names: readonly string[]): Bill {
  const dependsOn = new Map(bill.dependencies.map((each) => [each.ref, each.dependsOn]));
  const nameOf = new Map(bill.components.map((each) => [each['bom-ref'], each.name]));
  const root = bill.metadata.component['bom-ref'];
  const direct = (dependsOn.get(root) ?? []).filter((ref) => names.includes(nameOf.get(ref) ?? ''));
  const kept = new Set([root, ...direct]);
  // The loop also visits what it adds to the set.
  for (const ref of kept) {
    for (const next of ref === root ? [] : (dependsOn.get(ref) ?? [])) kept.add(next);
  }
  return {
    ...bill,
    components: bill.components.filter((each) => kept.has(each['bom-ref'])),
    dependencies: bill.dependencies
      .filter(({ ref }) => kept.has(ref))
      .map((each) => (each.ref === root ? { ref: root, dependsOn: direct } : each)),
  };
}

/** A UUID made from the content. */
function contentUuid(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

/**
 * The software bill of materials of the application layer, CycloneDX as npm makes it. npm puts the clock, a random
 * serial number and its folder's name into it; here the same sources give the same bill.
 *
 * @param folder the checkout
 * @param created ISO time that the bill is dated with
 * @throws Error with npm's message when npm fails
 */
export function softwareBill(folder: string, created: string): string {
  const { status, stdout, stderr } = spawnSync('npm', NPM_SBOM, { cwd: folder, encoding: 'utf8', maxBuffer: 1e8 });
  if (status !== 0) {
    throw new Error(`npm ${NPM_SBOM.join(' ')} ended with ${status ?? 'a signal'}:\n${stderr}`);
  }
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const bill = reachable(JSON.parse(stdout) as Bill, Object.keys(dependencies));
  const component = { ...bill.metadata.component, type: 'application', name: PRODUCT_NAME };
  const serialNumber = `urn:uuid:${contentUuid(JSON.stringify([component, bill.components, created]))}`;
  const metadata = { ...bill.metadata, timestamp: created, component };
  return `${JSON.stringify({ ...bill, serialNumber, metadata }, null, 2)}\n`;
}
