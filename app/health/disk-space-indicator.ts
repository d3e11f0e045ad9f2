import { statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Settings } from '../../settings/settings.ts';
import type { HealthIndicator } from './health-indicator.ts';

/**
 * The component `diskSpace`: DOWN when the file system of `path` has fewer free bytes for this user than `threshold`.
 * A path that does not exist has none.
 */
export function diskSpaceIndicator(settings: Settings['management']['health']['diskspace']): HealthIndicator {
  const path = resolve(settings.path);
  return {
    name: 'diskSpace',
    check: async () => {
      const { total, free, exists } = await space(path);
      return {
        status: free >= settings.threshold && exists ? 'UP' : 'DOWN',
        details: { total, free, threshold: settings.threshold, path, exists },
      };
    },
  };
}

async function space(path: string): Promise<{ total: number; free: number; exists: boolean }> {
  try {
    const { blocks, bavail, bsize } = await statfs(path);
    return { total: blocks * bsize, free: bavail * bsize, exists: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return { total: 0, free: 0, exists: false };
    }
    throw error;
  }
}
