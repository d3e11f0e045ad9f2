import { managementEndpoint } from '../../contract/actuator.ts';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { type CheckedWorkload, checkedWorkload } from '../../deployment/checked-workload.ts';
import { describeProblems } from '../../settings/problem.ts';
import { MAX_VALUE_BYTES } from '../orders/sample-record.ts';
import { ExplainedError } from '../run/explained-error.ts';
import type { Written } from '../verdict/compare-tables.ts';

/** Topic, group and schema of the rows that the consumers write. */
export const WRITTEN: Written = { topic: 'orders', group: 'cluster-test', schema: 'stream_consumer' };

export const REPLICAS = 2;

/** The Secret with the database's credentials. */
export const SECRET = 'orders-consumer-database';

/** What the consumer under test depends on. */
export interface Surroundings {
  readonly namespace: string;
  /** Brokers as Pods see them. */
  readonly broker: string;
  readonly databasePort: number;
  /** Whether the cluster knows the Prometheus Operator's kinds. */
  readonly hasOperator: boolean;
}

/** consumer.yaml of the consumer under test. */
export function subjectDocument(around: Surroundings, logLevel: 'info' | 'debug'): object {
  return {
    name: 'orders-consumer',
    namespace: { name: around.namespace },
    image: { repository: 'localhost/stream-consumer' },
    replicas: REPLICAS,
    database: { existingSecret: SECRET },
    networkPolicy: { egress: { database: [{ ports: [around.databasePort] }] } },
    monitoring: { customResources: around.hasOperator },
    application: {
      kafka: { brokers: [around.broker], topics: [WRITTEN.topic], groupId: WRITTEN.group },
      database: { schema: WRITTEN.schema },
      consumer: { maxValueBytes: MAX_VALUE_BYTES },
      logging: { level: logLevel },
    },
  };
}

/** What the manifests of the document are made from. @throws ExplainedError when the document is wrong */
export function subjectWorkload(document: object): CheckedWorkload {
  const checked = checkConsumerFile(document);
  if (!checked.ok) {
    throw new ExplainedError(describeProblems(checked.problems));
  }
  return checkedWorkload(checked.value);
}

export const subjectEndpoint = (own: CheckedWorkload) => managementEndpoint(own.settings);
