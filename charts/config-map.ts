import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { stringify } from 'yaml';
import { CONTAINER_PATH } from '../contract/container.ts';
import { type CheckedWorkload, objectMetadata } from '../deployment/checked-workload.ts';
import { fileKey, withMountedFiles } from '../deployment/mounted-files.ts';
import { withCertificates } from '../deployment/sections/certificates.ts';
import { contentHash } from '../deployment/sections/object-names.ts';
import { valueAt } from '../settings/schema/document.ts';

type Section = Readonly<Record<string, unknown>>;

/** The checked settings are sections where the schema says so; one that the user left out counts as empty. */
const section = (root: Section, ...path: string[]): Section => (valueAt(root, path) ?? {}) as Section;

/**
 * application.yml as the ConfigMap holds it: what consumer.yaml says, and written out beside it the port of the probes,
 * the files of the certificates, `database.migrate: false` where the consumer does not create its tables, and the label
 * `application` of every series (default: the consumer's name).
 */
export function applicationYaml({ application: written, settings, file }: CheckedWorkload): string {
  const application = withMountedFiles(withCertificates(written, file), file);
  const management = section(application, 'management');
  const metrics = section(management, 'metrics');
  return stringify(
    {
      ...application,
      server: {
        ...section(application, 'server'),
        port: settings.server.port,
        ...(settings.server.ssl && { ssl: settings.server.ssl }),
      },
      ...(file.database.migrate !== 'onStart' && {
        database: { ...section(application, 'database'), migrate: false },
      }),
      management: {
        ...management,
        metrics: { ...metrics, tags: { application: file.name, ...section(metrics, 'tags') } },
      },
    },
    { lineWidth: 0 },
  );
}

/**
 * The ConfigMap with application.yml and the files of consumer.yaml. It is immutable and its name holds a hash of its
 * content: a changed setting makes a new one, the Deployment names it, and so the Pods roll; a rollback finds the old
 * one still there.
 */
export function configMap(scope: Construct, workload: CheckedWorkload): ApiObject {
  const content = applicationYaml(workload);
  const files = Object.fromEntries(Object.entries(workload.file.files).map(([name, text]) => [fileKey(name), text]));
  const hashed = Object.keys(files).length === 0 ? content : JSON.stringify([content, files]);
  const name = `${workload.names.configPrefix}-${contentHash(hashed)}`;
  return new ApiObject(
    scope,
    'config-map',
    k8s.KubeConfigMap.manifest({
      metadata: objectMetadata(workload, name),
      data: { [CONTAINER_PATH.configurationFile]: content, ...files },
      immutable: true,
    }),
  );
}
