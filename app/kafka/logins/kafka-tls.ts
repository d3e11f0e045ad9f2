import type { ConnectionOptions } from 'node:tls';
import type { Settings } from '../../../settings/settings.ts';
import { readTls } from '../../credentials/tls-files.ts';

/**
 * The options of `kafka.tls`, with the files as they are now.
 *
 * @throws Error with the setting, for a file that cannot be read or holds something else
 */
export function tlsOptions({ tls }: Settings['kafka']): ConnectionOptions {
  const { serverName, verifyHostName = true } = tls ?? {};
  return {
    ...readTls('kafka.tls', tls),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(verifyHostName ? {} : { checkServerIdentity: () => undefined }),
  };
}
