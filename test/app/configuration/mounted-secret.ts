import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Writes a Secret into a folder as the kubelet does: the files in a new folder, a symbolic link to it that is replaced
 * atomically, and links to the files through that link. Called again it exchanges the content.
 */
export function mountSecret(folder: string, secret: Readonly<Record<string, string>>): void {
  mkdirSync(folder, { recursive: true });
  const version = basename(mkdtempSync(`${folder}/..`));
  for (const [name, content] of Object.entries(secret)) {
    writeFileSync(join(folder, version, name), content);
  }
  symlinkSync(version, join(folder, '..next'));
  renameSync(join(folder, '..next'), join(folder, '..data'));
  for (const name of readdirSync(folder).filter((entry) => !entry.startsWith('..') && !(entry in secret))) {
    rmSync(join(folder, name));
  }
  for (const name of Object.keys(secret)) {
    rmSync(join(folder, name), { force: true });
    symlinkSync(join('..data', name), join(folder, name));
  }
}
