import { describe, expect, test } from '@jest/globals';
import { parseCommandLine } from '../../app/commands/command-line.ts';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { consumerDocument } from './example-consumer.ts';
import { type PodSpec, restrictedViolations } from './pod-security.ts';
import { deploymentSpec, only, renderedConsumer } from './rendered-consumer.ts';

interface Variable {
  readonly name: string;
}

type Container = Readonly<Record<string, unknown>> & {
  readonly name: string;
  readonly args?: readonly string[];
  readonly env: readonly Variable[];
};

type Pod = Omit<PodSpec, 'containers' | 'initContainers'> &
  Readonly<Record<string, unknown>> & {
    readonly containers: readonly Container[];
    readonly initContainers?: readonly Container[];
  };

const podOf = (changes: object): Pod => deploymentSpec(renderedConsumer(changes)).template.spec as unknown as Pod;

const doctorOf = (changes: object = {}): Container => {
  const { initContainers = [] } = podOf({ ...changes, pods: { doctor: true, ...Object(changes).pods } });
  const doctor = initContainers.at(-1);
  if (doctor === undefined) {
    throw new Error('the Pods have no init container');
  }
  return doctor;
};

test('Pods have no init container unless consumer.yaml asks for it', () => {
  expect(podOf({})).not.toHaveProperty('initContainers');
});

describe('pods.doctor', () => {
  test('is the init container that it was', () => {
    expect(doctorOf({ image: { tag: '1.2.3' }, secrets: { as: 'environment' } })).toMatchSnapshot();
  });

  test('runs a command that the consumer has, which fails for no outage', () => {
    const { name, args = [] } = doctorOf();
    expect(name).toBe('doctor');
    const { command, request, problems } = parseCommandLine(args);
    expect(problems).toEqual([]);
    expect(command?.name).toBe('doctor');
    expect(request?.asked).toEqual({ json: false, ignoresOutages: true });
  });

  test.each(['files', 'environment'])(
    'sees what the consumer sees, with Secrets as %s, but for its name in the group and its probes',
    (as) => {
      const changes = {
        secrets: { as },
        kafka: { tls: { ca: { existingSecret: 'ca' } } },
        application: { kafka: { ssl: true } },
      };
      const { args: _, ...doctor } = doctorOf(changes);
      const [consumer] = podOf({ ...changes, pods: { doctor: true } }).containers;
      const { livenessProbe: _l, readinessProbe: _r, ports: _p, ...others } = Object(consumer) as Container;
      const env = others.env.filter(({ name }) => name !== 'KAFKA_GROUP_INSTANCE_ID');
      expect(doctor).toEqual({ ...others, name: 'doctor', env });
    },
  );

  test('requests no more than the consumer, so the Pod needs no more room', () => {
    const pod = podOf({ pods: { doctor: true } });
    expect(pod.initContainers?.[0]?.['resources']).toEqual(pod.containers[0]?.['resources']);
  });

  test('begins after the sidecars and the init containers of the user, and sees their volumes and variables', () => {
    const pods = {
      doctor: true,
      volumes: [{ name: 'cache', emptyDir: {} }],
      volumeMounts: [{ name: 'cache', mountPath: '/var/cache/x' }],
      envFrom: [{ secretRef: { name: 'more' } }],
      initContainers: [{ name: 'wait', image: 'busybox:1.36' }],
      sidecars: [{ name: 'proxy', image: 'proxy:2' }],
    };
    const { initContainers = [], containers } = podOf({ pods });
    expect(initContainers.map(({ name }) => name)).toEqual(['proxy', 'wait', 'doctor']);
    const doctor = initContainers[2];
    expect(doctor?.['volumeMounts']).toEqual(containers[0]?.['volumeMounts']);
    expect(doctor?.['envFrom']).toEqual(pods.envFrom);
    expect(initContainers[1]).not.toHaveProperty('envFrom');
  });

  test('is restricted', () => {
    expect(restrictedViolations(podOf({ pods: { doctor: true } }) as unknown as PodSpec)).toEqual([]);
  });

  test('is not in the Job, which logs in as somebody else', () => {
    const database = { migrate: 'job', owner: { existingSecret: 'owner' } };
    const job = only(renderedConsumer({ database, pods: { doctor: true } }), 'Job');
    expect(JSON.stringify(job)).not.toContain('doctor');
  });

  test("takes a name that no container of the user's may have", () => {
    const initContainers = [{ name: 'doctor', image: 'busybox:1.36' }];
    const checked = checkConsumerFile(consumerDocument({ pods: { initContainers } }));
    expect(checked).toMatchObject({
      ok: false,
      problems: [{ path: 'pods.initContainers[0].name', message: 'is the name of a container of the manifests' }],
    });
  });
});
