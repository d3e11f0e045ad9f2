import { memoryBytes } from '../deployment/resources.ts';

const MEBIBYTE = 1_048_576;

/** Share of the memory limit that V8's old space may take: fetched records are Buffers, which live outside of it. */
const HEAP_SHARE = 0.65;

/** Mebibytes for `--max-old-space-size` under a memory limit such as `256Mi`. */
export function heapMebibytes(memoryLimit: string): number {
  return Math.floor((memoryBytes(memoryLimit) / MEBIBYTE) * HEAP_SHARE);
}
