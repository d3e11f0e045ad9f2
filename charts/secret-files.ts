import type { k8s } from 'cdk8s-plus-28';
import type { Credential } from './secrets.ts';

/** Readable for the consumer's group alone. */
const FILE_MODE = 0o440;

const toItem = ({ setting, key }: Credential): k8s.KeyToPath => ({ key, path: setting.replaceAll('.', '/') });

/** One source for each Secret's keys that must be there, and one for those that need not. */
function sources(credentials: readonly Credential[]): k8s.VolumeProjection[] {
  const names = [...new Set(credentials.map(({ secret }) => secret))];
  return names.flatMap((name) =>
    [false, true].flatMap((optional) => {
      const items = credentials
        .filter(({ secret, isOptional }) => secret === name && isOptional === optional)
        .map(toItem);
      return items.length === 0 ? [] : [{ secret: { name, items, ...(optional && { optional }) } }];
    }),
  );
}

/** The Secrets as files: `database/url` holds the setting `database.url`, which is how the consumer reads a config tree. */
export function secretFiles(name: string, credentials: readonly Credential[]): k8s.Volume {
  return { name, projected: { defaultMode: FILE_MODE, sources: sources(credentials) } };
}
