/** Where the image comes from, as consumer.yaml's `image` says it. */
export interface ImageSource {
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
