import { Type } from 'typebox';
import { ALLOWED } from '../settings/schema.ts';
import { section } from '../settings/section.ts';
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
    pullSecrets: Type.Array(Type.String(objectName), {
      default: [],
      uniqueItems: true,
      description: 'Secrets with the credentials of a private registry; left out: none.',
    }),
  },
  { ...section, description: 'Which image the Pods run.' },
);
