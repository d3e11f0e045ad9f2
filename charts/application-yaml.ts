import { stringify } from 'yaml';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { valueAt } from '../settings/document.ts';

type Section = Readonly<Record<string, unknown>>;

/** The checked settings are sections where the schema says so; one that the user left out counts as empty. */
const section = (root: Section, ...path: string[]): Section => (valueAt(root, path) ?? {}) as Section;

/**
 * application.yml as the ConfigMap holds it: what consumer.yaml says, and written out beside it the port that the
 * probes ask at, the certificate's files, that the tables are somebody else's where they are, and the label `application` of every series (left out in consumer.yaml: the
 * consumer's name).
 */
export function applicationYaml({ application, settings, file }: CheckedWorkload): string {
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
