import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { PRODUCT_NAME } from '../../contract/identity.ts';

/** The command whose answer is the bill: what is in package-lock.json for production. */
const NPM_SBOM = ['sbom', '--omit=dev', '--omit=peer', '--package-lock-only', '--sbom-format', 'cyclonedx'];

interface Bill {
  readonly components: readonly unknown[];
  readonly metadata: { readonly component: Readonly<Record<string, unknown>> };
}

/** An UUID that the same content always gets. */
function contentUuid(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
}

/**
 * The software bill of materials of the application layer, CycloneDX as npm makes it. npm puts the clock, a random serial
 * number and its folder's name into it; here the same sources give the same bill.
 *
 * @param folder the checkout
 * @param created ISO time that the bill is dated with
 * @throws Error with npm's own words when it makes none
 */
export function softwareBill(folder: string, created: string): string {
  const { status, stdout, stderr } = spawnSync('npm', NPM_SBOM, { cwd: folder, encoding: 'utf8', maxBuffer: 1e8 });
  if (status !== 0) {
    throw new Error(`npm ${NPM_SBOM.join(' ')} ended with ${status ?? 'a signal'}:\n${stderr}`);
  }
  const bill = JSON.parse(stdout) as Bill;
  const component = { ...bill.metadata.component, type: 'application', name: PRODUCT_NAME };
  const serialNumber = `urn:uuid:${contentUuid(JSON.stringify([component, bill.components, created]))}`;
  const metadata = { ...bill.metadata, timestamp: created, component };
  return `${JSON.stringify({ ...bill, serialNumber, metadata }, null, 2)}\n`;
}
