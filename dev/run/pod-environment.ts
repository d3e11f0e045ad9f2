import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_MEMORY_LIMIT, heapMebibytes } from '../../deployment/sections/resources.ts';

/**
 * What bounds the memory of a process in a Pod: V8's heap by the manifests, and malloc by the image.
 *
 * @param memoryLimit as in consumer.yaml, such as `512Mi`. @default that of a Pod for which consumer.yaml names none
 */
export const podEnvironment = (memoryLimit: string = DEFAULT_MEMORY_LIMIT) => ({
  NODE_OPTIONS: `--max-old-space-size=${heapMebibytes(memoryLimit)}`,
  MALLOC_MMAP_THRESHOLD_: ofImage('MALLOC_MMAP_THRESHOLD_'),
});

/** A variable of the environment as app/Dockerfile sets it. */
function ofImage(name: string): string {
  const dockerfile = readFileSync(join(import.meta.dirname, '../../app/Dockerfile'), 'utf8');
  const value = new RegExp(`^(?:ENV| ) .*\\b${name}=(\\S+)`, 'm').exec(dockerfile)?.[1];
  if (value === undefined) {
    throw new Error(`app/Dockerfile does not set ${name}`);
  }
  return value;
}
