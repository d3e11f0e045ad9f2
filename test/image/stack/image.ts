import { PRODUCT_VERSION } from '../../../contract/product-version.ts';
import { imageToBuild } from '../../../dev/image/image-to-build.ts';

/** The name under which `npm run image` builds, and which the manifests in dist/ refer to. */
export function builtImage(): string {
  const image = imageToBuild('.', '', PRODUCT_VERSION);
  if (!image.ok) {
    throw new Error('consumer.yaml names no image that can be built');
  }
  return image.value;
}
