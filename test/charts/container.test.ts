import { expect, test } from '@jest/globals';
import { onlyContainer, renderedConsumer } from './rendered-consumer.ts';

const ADMIN = { application: { spring: { boot: { admin: { client: { url: ['https://admin.example'] } } } } } };

const environment = (changes: object) => onlyContainer(renderedConsumer(changes))['env'] as readonly { name: string }[];

test('the Pod is told its address only when it has to tell it Spring Boot Admin', () => {
  const address = { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } };
  expect(environment(ADMIN)).toContainEqual(address);
  expect(environment({}).map(({ name }) => name)).not.toContain('POD_IP');
});

test('the uid of the Pod names the process in its group, and the Job, which joins none, is given no name', () => {
  const name = 'KAFKA_GROUP_INSTANCE_ID';
  const uid = { name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.uid' } } };
  expect(environment({}).filter((variable) => variable.name === name)).toEqual([uid]);
  const objects = renderedConsumer({ database: { migrate: 'job', owner: { existingSecret: 'owner' } } });
  const job = objects.filter(({ kind }) => kind === 'Job');
  expect(job).toHaveLength(1);
  expect(JSON.stringify(job)).not.toContain(name);
});

test("user and password at Spring Boot Admin come from the Secret's keys", () => {
  const springBootAdmin = { existingSecret: 'admin', keys: { username: 'user' } };
  const secretKeyRef = { name: 'admin' };
  expect(environment({ ...ADMIN, monitoring: { springBootAdmin }, secrets: { as: 'environment' } })).toEqual(
    expect.arrayContaining([
      { name: 'SPRING_BOOT_ADMIN_CLIENT_USERNAME', valueFrom: { secretKeyRef: { ...secretKeyRef, key: 'user' } } },
      { name: 'SPRING_BOOT_ADMIN_CLIENT_PASSWORD', valueFrom: { secretKeyRef: { ...secretKeyRef, key: 'password' } } },
    ]),
  );
});
