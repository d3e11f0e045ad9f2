import type { Checked } from '../../contract/check-against.ts';
import { imageReference } from '../../contract/image-reference.ts';
import type { Problem } from '../../contract/problem.ts';
import { checkedEnvironments } from '../../synthesis/checked-environment.ts';

const pinned = (name: string, digest: string): Problem => ({
  path: 'image.digest',
  message: `pins an image that exists already, and a build can't be given a digest${name === '' ? '' : ` (environment ${name})`}`,
  given: digest,
  allowed:
    'an environment without image.digest: build and push under the tag, then write the digest that the push prints',
});

const unknown = (name: string, names: readonly string[]): Problem => ({
  path: '--environment',
  message: 'names no environment',
  given: name,
  allowed: names.length === 0 ? 'nothing: environments/ is empty' : `one of ${names.join(', ')}`,
});

/**
 * The reference that synth writes into the manifests.
 *
 * @param folder where consumer.yaml is
 * @param environment whose image is meant; empty: consumer.yaml's own
 * @param version the package's version
 */
export function imageToBuild(folder: string, environment: string, version: string): Checked<string> {
  const checked = checkedEnvironments(folder);
  if (!checked.ok) {
    return checked;
  }
  const found = checked.value.find((each) => each.folder === environment);
  if (found === undefined) {
    const names = checked.value.map((each) => each.folder).filter((name) => name !== '');
    return { ok: false, problems: [unknown(environment, names)] };
  }
  const { image } = found.consumer.file;
  return image.digest === undefined
    ? { ok: true, value: imageReference(image, version) }
    : { ok: false, problems: [pinned(environment, image.digest)] };
}
