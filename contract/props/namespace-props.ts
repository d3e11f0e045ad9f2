// Written by npm run generate out of consumer.yaml's schema; never edited.

/** Where the objects are. */
export interface NamespaceProps {
  /**
   * Namespace of all objects.
   *
   * Allowed: a name of at most 63 lower-case letters, digits and dashes that begins with a letter.
   *
   * @default 'stream-consumer'
   */
  readonly name?: string;

  /**
   * Whether the Namespace is among the manifests.
   *
   * @default true
   */
  readonly create?: boolean;
}
