import { SECRET_SETTINGS } from '../application-part.ts';
import type { Rule } from '../check-against.ts';
import type { ConsumerFile } from '../consumer-file.ts';
import { environmentName } from '../setting-list.ts';
import { formatPath } from '../setting-path.ts';

/** Variables that the manifests set. */
const OURS: ReadonlySet<string> = new Set(['CONFIG_FILE', 'CONFIG_TREE', 'NODE_OPTIONS', 'POD_IP']);

const SECRETS: ReadonlySet<string> = new Set(SECRET_SETTINGS.map((path) => environmentName(formatPath(path))));

const environmentIsFree: Rule<ConsumerFile> = {
  reads: ['pods.environment'],
  find: ({ pods }) =>
    Object.keys(pods.environment).flatMap((name) => {
      const path = `pods.environment.${name}`;
      if (SECRETS.has(name)) {
        const allowed = 'a Secret in the cluster, named by existingSecret';
        return [{ path, message: 'is a secret, and a manifest is no place for one', allowed }];
      }
      return OURS.has(name)
        ? [{ path, message: 'is set by the manifests', allowed: `any name but ${[...OURS].join(', ')}` }]
        : [];
    }),
};

/** What must hold for what is said about the Pods. */
export const POD_RULES: readonly Rule<ConsumerFile>[] = [environmentIsFree];
