import { expect } from '@jest/globals';
import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, type Admin, ResourcePatternTypes } from 'kafkajs';
import { createTopic, kafkaClient } from '../stack/kafka-client.ts';
import { type SecuredKafka, startSecuredKafka, USER } from '../stack/secured-kafka.ts';
import type { ConsumerUnderTest } from '../stack/start-consumer.ts';

/** A Kafka whose user may do what an ACL allows; the test, on the plain listener, may do anything. */
export type AuthorizedKafka = Awaited<ReturnType<typeof startAuthorizedKafka>>;

const PROPERTIES = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'super.users': 'User:ANONYMOUS',
};

/** Starts one, with a topic that the user may read, and groups that begin with `group`. */
export async function startAuthorizedKafka() {
  const kafka = await startSecuredKafka({ properties: PROPERTIES });
  const admin = kafkaClient({ broker: kafka.broker }).admin();
  await admin.connect();
  const topic = await createTopic({ broker: kafka.broker, partitions: 3 });
  const allow = allowedBy(admin);
  await allow(AclResourceTypes.TOPIC, topic, AclOperationTypes.READ);
  await allow(AclResourceTypes.GROUP, 'group', AclOperationTypes.READ, ResourcePatternTypes.PREFIXED);
  return { kafka, admin, topic, allow, ...examinedIn(kafka, topic) };
}

/** Gives the user a right. */
const allowedBy =
  (admin: Admin) =>
  (
    resourceType: AclResourceTypes,
    resourceName: string,
    operation: AclOperationTypes,
    resourcePatternType = ResourcePatternTypes.LITERAL,
  ) =>
    admin.createAcls({
      acl: [
        {
          ...{ resourceType, resourceName, operation, resourcePatternType },
          ...{ principal: `User:${USER}`, host: '*', permissionType: AclPermissionTypes.ALLOW },
        },
      ],
    });

function examinedIn(kafka: SecuredKafka, topic: string) {
  const sasl = (changed: object = {}) => ({
    mechanism: 'scram-sha-512',
    username: USER,
    password: kafka.password,
    ...changed,
  });
  /** Settings that are right, but for what is changed in the section `kafka`. */
  const settings = (changed: object = {}, others: Partial<ConsumerUnderTest> = {}): ConsumerUnderTest => ({
    topics: [topic],
    brokers: [kafka.at('SASL_PLAIN')],
    ...others,
    settings: { ...others.settings, kafka: { sasl: sasl(), ...changed } },
  });
  /** The command that gives the user a right on the resource. */
  const acl = (operation: string, resource: string): unknown =>
    expect.stringContaining(
      `--bootstrap-server ${kafka.at('SASL_PLAIN')} --add --allow-principal "User:${USER}" --operation ${operation} ${resource}; or`,
    );
  return { sasl, settings, acl };
}
