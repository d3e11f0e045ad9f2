// Written by npm run generate out of consumer.yaml's schema; never edited.

/** Which image the Pods run. */
export interface ImageProps {
  /**
   * Registry and repository that the nodes pull from.
   *
   * Allowed: an image repository without tag or digest, such as registry.example.com/team/stream-consumer.
   */
  readonly repository: string;

  /**
   * Left out: the package's version. `latest` is refused.
   *
   * Allowed: an image tag of at most 63 letters, digits, dots, underscores and dashes.
   *
   * @default - the package's version
   */
  readonly tag?: string;

  /**
   * Wins over the tag; left out: the tag is used.
   *
   * Allowed: sha256: and 64 hexadecimal digits.
   *
   * @default - the tag is used
   */
  readonly digest?: string;

  /**
   * Secrets with the credentials of a private registry; left out: none.
   *
   * @default []
   */
  readonly pullSecrets?: readonly string[];
}
