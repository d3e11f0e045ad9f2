import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import type { ConsumerFile } from '../deployment/consumer-file.ts';

/** A setting of the consumer whose value a key of a Secret holds. */
export interface Credential {
  /** Path of the setting, such as `database.url`. */
  readonly setting: string;
  readonly secret: string;
  readonly key: string;
  /** Whether the Secret need not have the key: the value may stand elsewhere, in the URL for instance. */
  readonly isOptional: boolean;
}

const from = (secret: string, setting: string, key: string, isOptional = false): Credential => ({
  setting,
  secret,
  key,
  isOptional,
});

type DatabaseSecret = Pick<ConsumerFile['database'], 'existingSecret' | 'keys'>;

const ofDatabase = ({ existingSecret, keys }: DatabaseSecret): Credential[] => [
  from(existingSecret, 'database.url', keys.url),
  from(existingSecret, 'database.user', keys.user, true),
  from(existingSecret, 'database.password', keys.password, true),
];

function ofKafka(kafka: ConsumerFile['kafka']): Credential[] {
  return kafka === undefined
    ? []
    : [
        from(kafka.existingSecret, 'kafka.sasl.username', kafka.keys.username, true),
        from(kafka.existingSecret, 'kafka.sasl.password', kafka.keys.password),
      ];
}

function ofManagement({ credentials }: ConsumerFile['monitoring']): Credential[] {
  if (credentials === undefined) {
    return [];
  }
  const { existingSecret, type, keys } = credentials;
  return type === 'bearer'
    ? [from(existingSecret, 'management.security.token', keys.token)]
    : [
        from(existingSecret, 'management.security.username', keys.username),
        from(existingSecret, 'management.security.password', keys.password),
      ];
}

function ofAdminServer({ settings, file }: CheckedWorkload): Credential[] {
  const { springBootAdmin } = file.monitoring;
  if (springBootAdmin === undefined || settings.spring.boot.admin.client.url.length === 0) {
    return [];
  }
  const { existingSecret, keys } = springBootAdmin;
  return [
    from(existingSecret, 'spring.boot.admin.client.username', keys.username),
    from(existingSecret, 'spring.boot.admin.client.password', keys.password),
  ];
}

/**
 * Everything that the container takes from Secrets.
 *
 * @param database whose credentials at PostgreSQL. @default the consumer's
 */
export function credentials(
  workload: CheckedWorkload,
  database: DatabaseSecret = workload.file.database,
): Credential[] {
  const { kafka, monitoring } = workload.file;
  return [...ofDatabase(database), ...ofKafka(kafka), ...ofManagement(monitoring), ...ofAdminServer(workload)];
}
