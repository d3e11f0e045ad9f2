import { readFileSync } from 'node:fs';
import { ExplainedError } from '../run/explained-error.ts';

/** A user of this system, by number. */
export interface SystemUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL's own user where the system has one, else the one that owns nothing. */
const CANDIDATES = ['postgres', 'nobody'];

/**
 * Whom PostgreSQL runs as: it refuses to be root, so root lends it another user.
 *
 * @returns undefined when this process is not root: then it is the same user.
 * @throws ExplainedError when the system has none of the users.
 */
export function serverUser(
  passwd: string = '/etc/passwd',
  isRoot: boolean = process.getuid?.() === 0,
): SystemUser | undefined {
  if (!isRoot) {
    return undefined;
  }
  const users = readFileSync(passwd, 'utf8').split('\n').map(parseUser);
  for (const name of CANDIDATES) {
    const user = users.find((candidate) => candidate?.name === name && candidate.uid !== 0);
    if (user !== undefined) {
      return user;
    }
  }
  throw new ExplainedError(
    `PostgreSQL does not run as root, and ${passwd} has none of the users it could run as (${CANDIDATES.join(', ')}). ` +
      'Add one (useradd --system postgres), run as another user, or use a database of your own: --database URL',
  );
}

function parseUser(line: string): SystemUser | undefined {
  const [name, , uid, gid] = line.split(':');
  return name && uid && gid ? { name, uid: Number(uid), gid: Number(gid) } : undefined;
}
