import { describe, expect, test } from '@jest/globals';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { consumerDocument } from './example-consumer.ts';
import { deploymentSpec, onlyContainer, renderedConsumer } from './rendered-consumer.ts';

const template = (pods: object = {}) => deploymentSpec(renderedConsumer({ pods })).template;

describe('what consumer.yaml says about the Pods', () => {
  test('adds labels and annotations, and ours win', () => {
    const labels = { team: 'payments', 'app.kubernetes.io/name': 'theirs' };
    const { metadata } = template({ labels, annotations: { 'example.com/note': 'x' } });
    expect(metadata.labels).toMatchObject({ team: 'payments', 'app.kubernetes.io/name': 'stream-consumer' });
    expect(metadata).toMatchObject({ annotations: { 'example.com/note': 'x' } });
  });

  test('adds environment variables', () => {
    const { env } = onlyContainer(renderedConsumer({ pods: { environment: { TZ: 'Europe/Berlin' } } }));
    expect(env).toContainEqual({ name: 'TZ', value: 'Europe/Berlin' });
  });

  test('says where they may run, and who goes first', () => {
    const pods = {
      nodeSelector: { 'kubernetes.io/arch': 'arm64' },
      tolerations: [{ key: 'dedicated', value: 'streams', effect: 'NoSchedule' }],
      priorityClassName: 'high',
    };
    expect(template(pods).spec).toMatchObject({
      nodeSelector: pods.nodeSelector,
      tolerations: [{ ...pods.tolerations[0], operator: 'Equal' }],
      priorityClassName: 'high',
    });
  });

  test('says nothing where it is silent', () => {
    for (const key of ['nodeSelector', 'tolerations', 'priorityClassName']) {
      expect(template().spec).not.toHaveProperty(key);
    }
    expect(template().metadata).not.toHaveProperty('annotations');
  });

  test('can leave the spreading to others', () => {
    expect(template().spec).toHaveProperty('topologySpreadConstraints');
    expect(template({ spread: false }).spec).not.toHaveProperty('topologySpreadConstraints');
  });

  test.each(['DATABASE_PASSWORD', 'KAFKA_SASL_PASSWORD', 'DATABASE_URL', 'NODE_OPTIONS', 'CONFIG_FILE', 'CONFIG_TREE'])(
    'cannot set %s, which is a secret or ours',
    (name) => {
      const checked = checkConsumerFile(consumerDocument({ pods: { environment: { [name]: 'x' } } }));
      expect(checked.ok ? [] : checked.problems.map(({ path }) => path)).toEqual([`pods.environment.${name}`]);
    },
  );
});
