const BYTES = { Mi: 1_048_576, Gi: 1_073_741_824 } as const;

/** A whole number of mebibytes or gibibytes, as Kubernetes writes them: `256Mi`, `1Gi`. */
export const MEMORY_SIZE_PATTERN = '^[1-9][0-9]{0,5}(Mi|Gi)$';

/**
 * Bytes of a memory size such as `256Mi`.
 *
 * @throws RangeError when the text does not match {@link MEMORY_SIZE_PATTERN}; consumer.yaml is checked before anybody calls this.
 */
export function memoryBytes(size: string): number {
  const match = /^(\d+)(Mi|Gi)$/.exec(size);
  if (match?.[1] === undefined) {
    throw new RangeError(`"${size}" is not a memory size: a whole number and one of Mi, Gi is`);
  }
  return Number(match[1]) * BYTES[match[2] as keyof typeof BYTES];
}
