import { type Static, Type } from 'typebox';
import type { Rule } from '../../settings/schema/check.ts';
import { problemIf } from '../../settings/schema/problem.ts';
import { ALLOWED, section } from '../../settings/schema/schema.ts';
import { objectName } from './object-names.ts';

/** Which image the Pods run. */
export const image = Type.Object(
  {
    repository: Type.String({
      pattern: '^([a-z0-9.-]+(:[0-9]{1,5})?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$',
      maxLength: 255,
      description: 'Registry and repository that the nodes pull from.',
      [ALLOWED]: 'an image repository without tag or digest, such as registry.example.com/team/stream-consumer',
    }),
    tag: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$',
        description: "Left out: the package's version. `latest` is refused.",
        [ALLOWED]: 'an image tag of at most 63 letters, digits, dots, underscores and dashes',
      }),
    ),
    digest: Type.Optional(
      Type.String({
        pattern: '^sha256:[a-f0-9]{64}$',
        description: 'Wins over the tag; left out: the tag is used.',
        [ALLOWED]: 'sha256: and 64 hexadecimal digits',
      }),
    ),
    pullPolicy: Type.Enum(['IfNotPresent', 'Always', 'Never'], {
      default: 'IfNotPresent',
      description: 'When the nodes pull it (imagePullPolicy); Never wants it on each node already.',
    }),
    pullSecrets: Type.Array(Type.String(objectName), {
      default: [],
      uniqueItems: true,
      description: 'Secrets with the credentials of a private registry; left out: none.',
    }),
  },
  { ...section, description: 'Which image the Pods run.' },
);

/** Where the image comes from, as consumer.yaml's `image` says it. */
interface ImageSource {
  readonly repository: string;
  /** Left out: the package's version. */
  readonly tag?: string;
  /** Wins over the tag: a digest can't be moved. */
  readonly digest?: string;
}

/**
 * The one place that spells the image: the Deployment pulls it and `npm run image` builds it under this very name.
 *
 * @param version the package's version, the tag when the source names neither tag nor digest
 */
export function imageReference(source: ImageSource, version: string): string {
  if (source.digest !== undefined) {
    return `${source.repository}@${source.digest}`;
  }
  return `${source.repository}:${source.tag ?? version}`;
}

interface ImagePart {
  readonly image: Static<typeof image>;
}

const tagIsFixed: Rule<ImagePart> = {
  reads: ['image.tag'],
  find: ({ image }) =>
    problemIf(image.tag?.toLowerCase() === 'latest', {
      path: 'image.tag',
      message: 'moves: two Pods of one Deployment could run different images',
      given: image.tag,
      allowed: "a tag that is pushed once, a digest, or neither: then the package's version is the tag",
    }),
};

/** What the schema cannot say of the image. */
export const IMAGE_RULES: readonly Rule<ImagePart>[] = [tagIsFixed];
