import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { PRODUCT_VERSION } from '../../contract/product-version.ts';
import { contents, synthesize, temporaryCheckout } from '../synthesis/checkout.ts';

/** What a user had committed with each release: `consumer.yaml`, `environments/` and the `dist/` that was rendered. */
const RELEASES = readdirSync(import.meta.dirname).filter((name) => /^\d+\.\d+\.\d+$/.test(name));

describe.each(RELEASES)('a checkout of %s with the program of today', (release) => {
  const before = join(import.meta.dirname, release);
  let folder = '';

  beforeEach(() => {
    folder = temporaryCheckout();
    for (const name of readdirSync(before)) {
      rmSync(join(folder, name), { recursive: true });
      cpSync(join(before, name), join(folder, name), { recursive: true });
    }
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('is rendered without a problem, into the same files, with the image of today', async () => {
    const { code, stderr } = await synthesize(folder);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const after = contents(join(folder, 'dist'));
    expect([...after.keys()]).toEqual([...contents(join(before, 'dist')).keys()]);
    expect(after.get('consumer.k8s.yaml')).toContain(`image: localhost/stream-consumer:${PRODUCT_VERSION}\n`);
  });

  test('is compared with its dist/: another selector in there is refused', async () => {
    const manifest = join(folder, 'dist', 'consumer.k8s.yaml');
    const committed = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, committed.replaceAll('app.kubernetes.io/instance:', 'instance:'));
    const { code, stderr } = await synthesize(folder);
    expect(code).toBe(1);
    expect(stderr).toContain('spec.selector');
  });
});
