import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { processIdentity } from './process-identity.ts';
import { killAll, RUN_FOLDER_PREFIX, recordedProcesses } from './recorded-processes.ts';
import { OWNER_FILE, runFolderParent } from './run-folder.ts';

const POLL_MS = 50;
const PATIENCE_MS = 5_000;

/**
 * Cleans up after runs that died before they could: kills their processes, removes their folders.
 *
 * @returns the folders that were removed.
 */
export async function removeLeftoverRuns(parent: string = runFolderParent()): Promise<readonly string[]> {
  const leftover = readdirSync(parent)
    .filter((name) => name.startsWith(RUN_FOLDER_PREFIX))
    .map((name) => join(parent, name))
    .filter((folder) => isOurs(folder) && !hasLivingOwner(folder));
  for (const folder of leftover) {
    await killProcesses(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
  return leftover;
}

/** Any user may make folders in the temporary folder: those of other users are left alone. */
function isOurs(folder: string): boolean {
  const uid = statSync(folder, { throwIfNoEntry: false })?.uid;
  return uid !== undefined && (process.getuid === undefined || uid === process.getuid());
}

function hasLivingOwner(folder: string): boolean {
  const pid = Number(/-run-(\d+)-[^/]*$/.exec(folder)?.[1]);
  const identity = processIdentity(pid);
  const recorded = recordedOwner(folder);
  // A run that has just made its folder has not written the identity yet: then the number has to do.
  return identity !== undefined && (recorded === '' || recorded === identity);
}

function recordedOwner(folder: string): string {
  try {
    return readFileSync(join(folder, OWNER_FILE), 'utf8');
  } catch {
    return '';
  }
}

async function killProcesses(folder: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (
    let left = recordedProcesses(folder);
    left.length > 0 && Date.now() < deadline;
    left = recordedProcesses(folder)
  ) {
    killAll(left);
    await delay(POLL_MS);
  }
}
