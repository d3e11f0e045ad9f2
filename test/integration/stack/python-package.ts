import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from '../../../dev/stack/cache-folder.ts';

/**
 * The folder of a package of PyPI for this machine, which pip fetches once.
 *
 * @param requirement its name and version: `confluent-kafka==2.16.0`
 * @param module the folder that it brings
 * @throws Error where there is no Python with pip
 */
export const pythonPackage = (requirement: string, module: string): Promise<string> =>
  cached({
    name: requirement.replace('==', '-'),
    isComplete: async (folder) => existsSync(join(folder, module)),
    fill: async (folder) => {
      await promisify(execFile)('python3', ['-m', 'pip', 'install', '--quiet', '--target', folder, requirement]).catch(
        (error: Error) => {
          const missing = `python3 with pip is needed for ${requirement}: install Debian's python3 and python3-pip`;
          throw new Error(`${missing} (${error.message})`);
        },
      );
    },
  });
