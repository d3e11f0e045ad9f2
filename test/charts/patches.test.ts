import { describe, expect, test } from '@jest/globals';
import { App, Chart, YamlOutputType } from 'cdk8s';
import { StreamConsumer } from '../../charts/stream-consumer.ts';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import type { StreamConsumerProps } from '../../deployment/generated/props.ts';
import { InvalidConsumerError } from '../../deployment/invalid-consumer-error.ts';
import type { Problem } from '../../settings/schema/problem.ts';
import { renderedMonitoring } from '../monitoring/rendered-monitoring.ts';
import { consumerDocument } from './example-consumer.ts';
import { deploymentSpec, only, renderedConsumer } from './rendered-consumer.ts';

type Operation = Readonly<Record<string, unknown>>;

const patch = (kind: string | undefined, operations: readonly Operation[], name?: string) => ({
  patches: [{ ...(kind !== undefined && { kind }), ...(name !== undefined && { name }), operations }],
});

/** What the file's check says, or the construct. */
function problemsOf(changes: object): readonly Problem[] {
  const checked = checkConsumerFile(consumerDocument(changes));
  if (!checked.ok) {
    return checked.problems;
  }
  try {
    renderedMonitoring(changes);
    renderedConsumer(changes);
  } catch (error) {
    if (error instanceof InvalidConsumerError) {
      return error.problems;
    }
    throw error;
  }
  return [];
}

const HOST_ALIASES = [{ ip: '192.0.2.1', hostnames: ['kafka'] }];
const aliases = { op: 'add', path: '/spec/template/spec/hostAliases', value: HOST_ALIASES };

describe('a patch', () => {
  test('changes the object of its kind and name, after everything else', () => {
    const changes = { ...patch('Deployment', [aliases], 'orders-consumer'), pods: { priorityClassName: 'high' } };
    expect(deploymentSpec(renderedConsumer(changes)).template.spec).toMatchObject({
      hostAliases: HOST_ALIASES,
      priorityClassName: 'high',
    });
  });

  test('may write what the types of the constructs do not know, amounts too', () => {
    const container = '/spec/template/spec/containers/0';
    const operations = [
      { op: 'replace', path: `${container}/resources/limits/cpu`, value: '2500m' },
      { op: 'add', path: `${container}/resizePolicy`, value: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] },
    ];
    expect(deploymentSpec(renderedConsumer(patch('Deployment', operations))).template.spec.containers[0]).toMatchObject(
      {
        resources: { limits: { cpu: '2500m', memory: '512Mi' } },
        resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }],
      },
    );
  });

  test('finds an object by its name without the hash', () => {
    const operation = { op: 'add', path: '/metadata/annotations', value: { a: 'b' } };
    const manifests = renderedConsumer(patch('ConfigMap', [operation], 'orders-consumer-config'));
    expect(only(manifests, 'ConfigMap').metadata).toMatchObject({ annotations: { a: 'b' } });
  });

  test('changes what Prometheus is told', () => {
    const operation = { op: 'add', path: '/spec/endpoints/0/honorTimestamps', value: false };
    const monitor = only(renderedMonitoring(patch('ServiceMonitor', [operation])), 'ServiceMonitor');
    expect(monitor['spec']).toMatchObject({ endpoints: [{ honorTimestamps: false }] });
  });

  test('moves, copies and removes', () => {
    const operations = [
      { op: 'test', path: '/spec/replicas', value: 1 },
      { op: 'copy', from: '/spec/replicas', path: '/spec/minReadySeconds' },
      { op: 'move', from: '/spec/replicas', path: '/spec/progressDeadlineSeconds' },
      { op: 'remove', path: '/metadata/labels/app.kubernetes.io~1component' },
    ];
    const deployment = only(renderedConsumer(patch('Deployment', operations)), 'Deployment');
    expect(deployment['spec']).toMatchObject({ minReadySeconds: 1, progressDeadlineSeconds: 1 });
    expect(deployment['spec']).not.toHaveProperty('replicas');
    expect(deployment.metadata.labels).not.toHaveProperty(['app.kubernetes.io/component']);
  });

  test('without a kind changes each object, those of the monitoring too', () => {
    const label = { op: 'add', path: '/metadata/labels/team', value: 'payments' };
    const changes = patch(undefined, [label]);
    const objects = [...renderedConsumer(changes), ...renderedMonitoring(changes)];
    expect(objects.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['Namespace', 'Deployment', 'Service', 'ServiceMonitor', 'PrometheusRule']),
    );
    expect(objects.filter(({ metadata }) => metadata.labels['team'] !== 'payments')).toEqual([]);
  });

  test('without a kind changes each object of its name', () => {
    const label = { op: 'add', path: '/metadata/labels/team', value: 'payments' };
    const changes = patch(undefined, [label], 'orders-consumer-config');
    const patched = [...renderedConsumer(changes), ...renderedMonitoring(changes)].filter(
      ({ metadata }) => metadata.labels['team'] === 'payments',
    );
    expect(patched.map(({ kind }) => kind)).toEqual(['ConfigMap']);
  });

  test('without a kind that changes the Job makes a new Job', () => {
    const job = { database: { migrate: 'job', owner: { existingSecret: 'owner' } } };
    const label = { op: 'add', path: '/metadata/labels/team', value: 'payments' };
    const nameOf = (changes: object) => only(renderedConsumer({ ...job, ...changes }), 'Job').metadata.name;
    expect(nameOf(patch(undefined, [label]))).not.toBe(nameOf({}));
    expect(nameOf(patch(undefined, [label], 'orders-consumer-schema'))).not.toBe(nameOf({}));
    expect(nameOf(patch(undefined, [label], 'orders-consumer'))).toBe(nameOf({}));
  });

  test('of the Job makes a new Job', () => {
    const job = { database: { migrate: 'job', owner: { existingSecret: 'owner' } } };
    const operation = { op: 'replace', path: '/spec/backoffLimit', value: 1 };
    const nameOf = (changes: object) => only(renderedConsumer({ ...job, ...changes }), 'Job').metadata.name;
    expect(nameOf(patch('Job', [operation], 'orders-consumer-schema'))).not.toBe(nameOf({}));
    expect(nameOf(patch('Deployment', [aliases]))).toBe(nameOf({}));
  });
});

describe('a patch is refused', () => {
  test('when it matches no object, with the names of those that there are', () => {
    for (const [kind, name] of [
      ['StatefulSet', undefined],
      ['Deployment', 'orders'],
      [undefined, 'orders'],
    ] as const) {
      expect(problemsOf(patch(kind, [aliases], name))).toEqual([
        {
          path: 'patches[0]',
          message: 'matches no object',
          given: [kind, name].filter((each) => each !== undefined).join(' '),
          allowed: expect.stringContaining('ServiceAccount orders-consumer, ConfigMap orders-consumer-config-'),
        },
      ]);
    }
  });

  test('when it names a way of scraping that is not the chosen one', () => {
    const operations = [{ op: 'remove', path: '/spec/selector' }];
    const changes = { ...patch('ServiceMonitor', operations), monitoring: { scrape: 'podMonitor' } };
    expect(problemsOf(changes)).toMatchObject([
      { path: 'patches[0]', allowed: 'one of PrometheusRule orders-consumer, PodMonitor orders-consumer' },
    ]);
  });

  test.each<[string, Operation, string, string]>([
    ['replaces', { op: 'replace', path: '/spec/replica', value: 2 }, '/spec/replica', '/spec has replicas'],
    [
      'removes',
      { op: 'remove', path: '/spec/template/spec/volumes/9' },
      '/spec/template/spec/volumes/9',
      'is a list of 3',
    ],
    ['adds below', { op: 'add', path: '/spec/templates/spec/a', value: 1 }, '/spec/templates/spec/a', '/spec has'],
    [
      'adds behind the end of',
      { op: 'add', path: '/spec/template/spec/volumes/4', value: 1 },
      '/spec/template/spec/volumes/4',
      'is a list of 3',
    ],
    ['copies', { op: 'copy', from: '/status', path: '/spec/a' }, '/status', 'the object has'],
    [
      'tests',
      { op: 'test', path: '/spec/template/spec/volumes/length', value: 2 },
      '/spec/template/spec/volumes/length',
      'is a list of 3',
    ],
  ])('when it %s what is not there, with what is', (_, operation, pointer, surroundings) => {
    expect(problemsOf(patch('Deployment', [aliases, operation]))).toEqual([
      {
        path: 'patches[0].operations[1]',
        message: `${operation['op']} ${operation['path']} fails at Deployment orders-consumer: there is no ${pointer}`,
        allowed: expect.stringContaining(surroundings),
      },
    ]);
  });

  test('when a test in it says no, without the value', () => {
    const [problem] = problemsOf(patch('Deployment', [{ op: 'test', path: '/spec/replicas', value: 'hunter2' }]));
    expect(problem).toMatchObject({
      path: 'patches[0].operations[0]',
      message: 'test /spec/replicas fails at Deployment orders-consumer',
    });
    expect(JSON.stringify(problem)).not.toContain('hunter2');
  });

  test.each<[string, string, Operation, string]>([
    ['without a value', 'Deployment', { op: 'add', path: '/spec/a' }, 'patches[0].operations[0].value'],
    [
      'with a value too many',
      'Deployment',
      { op: 'remove', path: '/spec/replicas', value: 1 },
      'patches[0].operations[0].value',
    ],
    [
      'without the place that it takes from',
      'Deployment',
      { op: 'move', path: '/spec/a' },
      'patches[0].operations[0].from',
    ],
    [
      'with another name',
      'Deployment',
      { op: 'replace', path: '/metadata/name', value: 'a' },
      'patches[0].operations[0].path',
    ],
    [
      'with another content of the ConfigMap',
      'ConfigMap',
      { op: 'add', path: '/data/a', value: 'b' },
      'patches[0].operations[0].path',
    ],
    ['of the whole object', 'Deployment', { op: 'replace', path: '', value: {} }, 'patches[0].operations[0].path'],
    ['with a pointer that is none', 'Deployment', { op: 'remove', path: 'spec' }, 'patches[0].operations[0].path'],
  ])('%s', (_, kind, operation, place) => {
    expect(problemsOf(patch(kind, [operation])).map(({ path }) => path)).toEqual([place]);
  });

  const selector = '/spec/selector';

  test.each<[string, Operation]>([
    ['replaces', { op: 'replace', path: `${selector}/matchLabels/app.kubernetes.io~1name`, value: 'a' }],
    ['adds to', { op: 'add', path: `${selector}/matchLabels/team`, value: 'payments' }],
    ['removes', { op: 'remove', path: selector }],
    ['copies over', { op: 'copy', from: '/metadata/labels', path: `${selector}/matchLabels` }],
    ['moves from', { op: 'move', from: selector, path: '/metadata/annotations' }],
  ])('when it %s the selector of the Deployment, which no cluster changes', (_, operation) => {
    const refused = [{ path: 'patches[0].operations[1]', message: expect.stringContaining('spec.selector') }];
    expect(problemsOf(patch('Deployment', [aliases, operation]))).toMatchObject(refused);
    expect(problemsOf(patch(undefined, [aliases, operation], 'orders-consumer'))).not.toEqual([]);
  });

  test('when it replaces all that is around the selector', () => {
    expect(problemsOf(patch('Deployment', [{ op: 'replace', path: '/spec', value: {} }]))).toMatchObject([
      { path: 'patches[0].operations[0]', message: expect.stringContaining('spec.selector') },
    ]);
  });

  test('when it takes from the Pods a label by which the Deployment finds them', () => {
    const path = '/spec/template/metadata/labels/app.kubernetes.io~1instance';
    const operations = [{ op: 'replace', path, value: 'other' }];
    expect(problemsOf(patch('Deployment', operations))).toMatchObject([
      { path: 'patches[0].operations[0]', message: expect.stringContaining('finds them') },
    ]);
  });

  test('when it has no kind and another content of the ConfigMap', () => {
    const operation = { op: 'add', path: '/data/a', value: 'b' };
    expect(problemsOf(patch(undefined, [operation]))).toMatchObject([{ path: 'patches[0].operations[0].path' }]);
  });

  test('of monitoring where the manifests have none', () => {
    const changes = { ...patch('PrometheusRule', [aliases]), monitoring: { customResources: false } };
    expect(problemsOf(changes)).toMatchObject([{ path: 'patches[0].kind' }]);
  });

  test('of monitoring where an app has none', () => {
    const app = new App({ yamlOutputType: YamlOutputType.FILE_PER_CHART });
    const props = consumerDocument(patch('PrometheusRule', [aliases])) as StreamConsumerProps;
    new StreamConsumer(new Chart(app, 'chart'), 'consumer', props);
    expect(() => app.synth()).toThrow('the app has no StreamConsumerMonitoring');
  });
});
