import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';

const remove = (path: string): void => rmSync(path, { recursive: true, force: true });

/** Finishes what a run that was ended half-way left behind: what it had not replaced yet comes back. */
function recover(target: string, incoming: string, outgoing: string): void {
  if (!existsSync(target) && existsSync(outgoing)) {
    renameSync(outgoing, target);
  }
  remove(incoming);
  remove(outgoing);
}

/**
 * Replaces a folder by a copy of another. The copy is complete before two renames put it in place, so the folder is never
 * half old and half new; files that are no longer made are gone with the old one.
 */
export function publish(rendered: string, target: string): void {
  const incoming = `${target}.new`;
  const outgoing = `${target}.old`;
  recover(target, incoming, outgoing);
  cpSync(rendered, incoming, { recursive: true });
  if (existsSync(target)) {
    renameSync(target, outgoing);
  }
  renameSync(incoming, target);
  remove(outgoing);
}
