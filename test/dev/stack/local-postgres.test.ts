import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { serverUser } from '../../../dev/stack/local-postgres.ts';
import { temporaryFolder } from '../run/temporary-folder.ts';

const NOBODY = 'nobody:x:65534:65533::/nonexistent:/usr/sbin/nologin';
const POSTGRES = 'postgres:x:101:104:PostgreSQL:/var/lib/postgresql:/bin/bash';

function userFrom(...lines: readonly string[]) {
  const passwd = join(temporaryFolder(), 'passwd');
  writeFileSync(passwd, `${lines.join('\n')}\n`);
  return serverUser(passwd, true);
}

describe('the user that PostgreSQL runs as', () => {
  test('is the same one unless that is root', () => {
    expect(serverUser('/no/such/file', false)).toBeUndefined();
  });

  test("is the system's own postgres under root", () => {
    expect(userFrom(NOBODY, POSTGRES)).toEqual({ name: 'postgres', uid: 101, gid: 104 });
  });

  test('is nobody where there is no postgres', () => {
    expect(userFrom('root:x:0:0::/root:/bin/sh', NOBODY)).toEqual({ name: 'nobody', uid: 65_534, gid: 65_533 });
  });

  test('is never root under another name', () => {
    expect(userFrom('postgres:x:0:0::/:/bin/sh', NOBODY)).toMatchObject({ name: 'nobody' });
  });

  test('is missed with the ways out', () => {
    expect(() => userFrom('root:x:0:0::/root:/bin/sh')).toThrow(/postgres, nobody.*useradd.*--database/);
  });
});
