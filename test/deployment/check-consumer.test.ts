import { describe, expect, test } from '@jest/globals';
import { LIVENESS_PROBE, READINESS_PROBE } from '../../contract/probes.ts';
import { checkConsumerFile, withShownPath } from '../../deployment/check-consumer.ts';
import { describeProblem } from '../../settings/schema/problem.ts';
import { consumerDocument } from '../charts/example-consumer.ts';

function problems(changes: object): string[] {
  const checked = checkConsumerFile(consumerDocument(changes));
  return checked.ok ? [] : checked.problems.map(describeProblem);
}

function checked(changes: object = {}) {
  const result = checkConsumerFile(consumerDocument(changes));
  if (!result.ok) {
    throw new Error(result.problems.map(describeProblem).join('\n'));
  }
  return result.value;
}

describe('a right consumer.yaml', () => {
  test('is complete with its defaults', () => {
    const { file, settings } = checked();
    expect(file).toMatchObject({
      namespace: { name: 'stream-consumer', create: true },
      replicas: 1,
      resources: { requests: { cpu: '100m' }, limits: { cpu: '1', memory: '512Mi' } },
      terminationGracePeriodSeconds: 40,
      rollout: { maxSurge: 0, maxUnavailable: 1 },
      probes: { paths: 'root', liveness: LIVENESS_PROBE, readiness: READINESS_PROBE },
      database: { keys: { url: 'url', user: 'user', password: 'password' } },
      monitoring: { customResources: true, labels: {}, scrapeIntervalSeconds: 15 },
    });
    expect(settings).toMatchObject({ server: { port: 8080 }, shutdown: { timeout: '25s' } });
  });

  test("needs nothing but the image's repository, brokers, topics, group and the database's Secret", () => {
    const smallest = {
      image: { repository: 'registry.example.com/stream-consumer' },
      database: { existingSecret: 'database' },
      application: { kafka: { brokers: ['a:1'], topics: ['t'], groupId: 'g' } },
    };
    expect(checkConsumerFile(smallest)).toMatchObject({ ok: true, value: { file: { name: 'stream-consumer' } } });
    const found = checkConsumerFile({ application: { kafka: {} } });
    expect(found.ok ? [] : found.problems.map(({ path, message }) => `${path} ${message}`)).toEqual([
      'image.repository is missing',
      'database.existingSecret is missing',
      'application.kafka.brokers is missing',
      'application.kafka.groupId is missing',
      'application.kafka.topics names no topic, and tables has no entry that does',
    ]);
  });

  test('may have more Pods than partitions: the rest waits idle', () => {
    expect(checked({ replicas: 8, partitions: 6 }).file).toMatchObject({ replicas: 8 });
    expect(checked({ replicas: 5, partitions: 6, rollout: { maxSurge: 1 } }).file).toMatchObject({ replicas: 5 });
  });

  test('may have any replicas where an autoscaler decides', () => {
    const scaling = { keda: { maxReplicas: 5 } };
    const changes = { replicas: 9, partitions: 6, rollout: { maxSurge: 1 }, scaling };
    expect(checked(changes).file).toMatchObject({ replicas: 9 });
  });

  test('keeps the application part without defaults, for the ConfigMap', () => {
    expect(checked({ application: { logging: { level: 'warn' } } }).application).toEqual({
      kafka: { brokers: ['kafka:9092'], topics: ['orders'], groupId: 'orders-consumer' },
      logging: { level: 'warn' },
    });
  });

  test('is not changed by the check', () => {
    const document = consumerDocument({ application: { database: { url: 'postgresql://u:p@h/d' } } });
    const before = structuredClone(document);
    checkConsumerFile(document);
    expect(document).toEqual(before);
  });
});

describe('a wrong consumer.yaml', () => {
  test.each<[string, object, string]>([
    ['an unknown key', { replica: 2 }, 'replica is not a known key; did you mean replicas?'],
    ['an unknown key inside', { image: { repo: 'x' } }, 'did you mean image.repository?'],
    ['a wrong type', { replicas: 'two' }, 'replicas has the wrong type: "two"'],
    ['a name that DNS refuses', { name: 'Orders_Consumer' }, '"Orders_Consumer"'],
    ['the tag latest', { image: { tag: 'latest' } }, 'image.tag moves'],
    ['a tag inside the repository', { image: { repository: 'registry/x:latest' } }, 'without tag or digest'],
    ['a half digest', { image: { digest: 'sha256:abc' } }, 'sha256: and 64 hexadecimal digits'],
    ['a bad memory size', { resources: { limits: { memory: '256M' } } }, 'a size such as 256Mi or 1Gi'],
    ['too little memory', { resources: { limits: { memory: '64Mi' } } }, 'at least 160Mi'],
    [
      'a memory request above the limit',
      { resources: { requests: { memory: '1Gi' } } },
      'resources.requests.memory is above the limit',
    ],
    [
      'a CPU request above the limit',
      { resources: { requests: { cpu: '1500m' } } },
      'resources.requests.cpu is above the limit',
    ],
    ['a number for CPU', { resources: { limits: { cpu: 2 } } }, "in quotes, such as '250m' or '1'"],
    ['an unknown way of probing', { probes: { paths: 'tcp' } }, 'one of root, groups'],
    [
      'a probe that times out after its period',
      { probes: { readiness: { timeoutSeconds: 11 } } },
      'probes.readiness.timeoutSeconds is longer than the period',
    ],
    [
      'a period below the time-out',
      { probes: { liveness: { periodSeconds: 9 } } },
      'at most probes.liveness.periodSeconds (9)',
    ],
    [
      'a rollout that cannot move',
      { rollout: { maxUnavailable: 0 } },
      'rollout.maxUnavailable is 0 as rollout.maxSurge is',
    ],
    ['a surge without the number of partitions', { rollout: { maxSurge: 1 } }, 'partitions is missing'],
    [
      'a surge beyond the partitions',
      { replicas: 6, partitions: 6, rollout: { maxSurge: 1 } },
      'replicas and the 1 Pods of rollout.maxSurge are more than there are partitions (6)',
    ],
    [
      'a URL that is none',
      { application: { spring: { boot: { admin: { client: { url: ['https://h:99999'] } } } } } },
      'application.spring.boot.admin.client.url[0] is not a URL: "https://h:99999"',
    ],
    ['too rare scrapes', { monitoring: { scrapeIntervalSeconds: 60 } }, 'from 5 to 30'],
    [
      'a port that nobody can know',
      { application: { server: { port: 0 } } },
      'application.server.port would be chosen',
    ],
    [
      'an address that no probe reaches',
      { application: { server: { address: '127.0.0.1' } } },
      'application.server.address is out of reach for the probes',
    ],
    ['a wrong setting of the consumer', { application: { kafka: { topics: [] } } }, 'application.kafka.topics'],
    [
      'an unknown setting of the consumer',
      { application: { kafka: { groupID: 'x' } } },
      'did you mean application.kafka.groupId?',
    ],
  ])('%s', (_name, changes, expected) => {
    const found = problems(changes);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  test('a grace period that is not longer than the drain names both', () => {
    const grace = { terminationGracePeriodSeconds: 25 };
    expect(problems(grace)).toEqual([
      expect.stringMatching(/^terminationGracePeriodSeconds .*application\.shutdown\.timeout \(25s\)/),
    ]);
    expect(problems({ ...grace, application: { shutdown: { timeout: '24s' } } })).toEqual([]);
    expect(problems({ application: { shutdown: { timeout: '1m' } } })).toEqual([
      expect.stringContaining('more than 60 seconds'),
    ]);
  });

  test('an unknown key names patches, for what has no word here, where a patch is a way out', () => {
    const way = '(what has no word here: patches)';
    expect(problems({ dnsPolicy: 'Default' })).toEqual([expect.stringContaining(way)]);
    expect(problems({ pods: { runtimeClassName: 'gvisor' } })).toEqual([expect.stringContaining(way)]);
    const changes = {
      application: { kafka: { rack: 'a' } },
      pods: { sidecars: [{ name: 'a', image: 'b', tty2: true }] },
      patches: [{ kind: 'Service', operations: [{ op: 'remove', path: '/a', key: 1 }] }],
    };
    const found = problems(changes);
    expect(found).toHaveLength(3);
    expect(found.filter((text) => text.includes('patches)'))).toEqual([]);
  });

  test('a key of Kubernetes, or nearly one, is shown in its place, and a password that became a key is not', () => {
    const keys = { allowPrivilegeEscalations: true, hunter2X: 1 };
    const pods = { sidecars: [{ name: 'a', image: 'b', securityContext: keys }], hunter2X: 1 };
    const checked = checkConsumerFile(consumerDocument({ pods }));
    const paths = checked.ok ? [] : checked.problems.map((problem) => withShownPath(problem).path);
    expect(paths).toEqual([
      'pods.******',
      'pods.sidecars[0].securityContext.allowPrivilegeEscalations',
      'pods.sidecars[0].securityContext.******',
    ]);
  });

  test('all problems are told at once, those of fitting together too', () => {
    const found = problems({
      replicas: -1,
      nmae: 'x',
      image: { tag: 'latest' },
      terminationGracePeriodSeconds: 10,
      application: { kafka: { brokers: 'a:1' } },
    });
    expect(found.map((text) => text.split(' ')[0]).sort()).toEqual([
      'application.kafka.brokers',
      'image.tag',
      'nmae',
      'replicas',
      'terminationGracePeriodSeconds',
    ]);
  });

  test.each([
    [undefined],
    [null],
    [[]],
    ['text'],
    [{ application: [] }],
    [{ application: { kafka: null, database: 3 } }],
  ])('never throws, not for %j either', (document) => {
    expect(checkConsumerFile(document)).toMatchObject({ ok: false });
  });
});

describe('secrets', () => {
  const literal = 'hunter2';

  test.each<[string, object, string]>([
    ["the database's password", { database: { password: literal } }, 'application.database.password is a secret'],
    [
      "the database's URL",
      { database: { url: `postgresql://u:${literal}@h/d` } },
      'application.database.url is a secret',
    ],
    [
      "the brokers' password",
      { kafka: { sasl: { mechanism: 'plain', username: 'u', password: literal } } },
      'application.kafka.sasl.password is a secret',
    ],
  ])('%s is refused and not shown', (_name, application, expected) => {
    const found = problems({
      kafka: { existingSecret: 's' },
      application: { kafka: { sasl: { mechanism: 'plain' } }, ...application },
    });
    expect(found.join('\n')).toContain(expected);
    expect(found.join('\n')).not.toContain(literal);
  });

  test.each<[string, object, string]>([
    [
      'SASL without a Secret',
      { application: { kafka: { sasl: { mechanism: 'plain' } } } },
      'kafka.existingSecret is missing',
    ],
    ['a Secret without SASL', { kafka: { existingSecret: 's' } }, 'application.kafka.sasl.mechanism is missing'],
    [
      "a client's secret without a Secret",
      { application: { kafka: { sasl: { mechanism: 'oauthbearer', oauth: { tokenEndpoint: 'https://id/t' } } } } },
      'kafka.existingSecret is missing',
    ],
    [
      'a Secret for a login that reads none',
      { kafka: { existingSecret: 's' }, application: { kafka: { ssl: true, sasl: { mechanism: 'aws-msk-iam' } } } },
      'kafka.existingSecret gives credentials that the login of application.kafka.sasl does not read',
    ],
  ])('%s is one problem', (_name, changes, expected) => {
    const found = problems(changes);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });
});
