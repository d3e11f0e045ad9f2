import { imageReference } from '../../deployment/sections/image.ts';
import type { Checked } from '../../settings/schema/check.ts';
import type { Problem } from '../../settings/schema/problem.ts';
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

const several = (references: readonly string[]): Problem => ({
  path: 'image',
  message: 'differs between the consumers, and one build makes one image',
  given: references,
  allowed: 'one image for all: they differ in their settings only',
});

/**
 * The reference that synth writes into the manifests.
 *
 * @param folder where consumer.yaml is
 * @param environment the one to take the image from; empty: consumer.yaml itself
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
  const images = found.consumers.map(({ file }) => file.image);
  const digests = images.flatMap(({ digest }) => digest ?? []);
  const references = [...new Set(images.map((image) => imageReference(image, version)))];
  const [reference] = references;
  const problems = [
    ...digests.map((digest) => pinned(environment, digest)),
    ...(references.length > 1 ? [several(references)] : []),
  ];
  return problems.length === 0 && reference !== undefined ? { ok: true, value: reference } : { ok: false, problems };
}
