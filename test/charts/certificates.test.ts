import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { applicationYaml } from '../../charts/config-map.ts';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { valueAt } from '../../settings/schema/document.ts';
import { consumerDocument, exampleWorkload } from './example-consumer.ts';
import { only, renderedConsumer } from './rendered-consumer.ts';

const KAFKA_TLS = {
  ca: { existingSecret: 'events-cluster-ca-cert' },
  clientCertificate: { existingSecret: 'orders', keys: { certificate: 'user.crt', privateKey: 'user.key' } },
};

const CHANGES = {
  kafka: { tls: KAFKA_TLS },
  database: {
    tls: {
      ca: { existingConfigMap: 'rds-bundle', key: 'global-bundle.pem' },
      clientCertificate: { existingSecret: 'client' },
    },
    migrate: 'job',
    owner: { existingSecret: 'owner' },
  },
  application: { kafka: { ssl: true, tls: { serverName: 'kafka.example.com' } } },
};

const KEDA = { partitions: 3, scaling: { keda: {} } };

const places = (changes: object): string[] => {
  const checked = checkConsumerFile(consumerDocument(changes));
  return checked.ok ? [] : checked.problems.map(({ path }) => path);
};

interface Pod {
  readonly containers: readonly {
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly volumes: readonly { readonly name: string }[];
}

const podOf = (kind: 'Deployment' | 'Job'): Pod => {
  const { template } = only(renderedConsumer(CHANGES), kind)['spec'] as { template: { spec: Pod } };
  return template.spec;
};

const item = (key: string) => ({ key, path: key });

describe('certificates from Secrets and ConfigMaps', () => {
  test.each(['Deployment', 'Job'] as const)(
    'are folders of their own in the Pods of the %s, with what is named alone',
    (kind) => {
      expect(podOf(kind).volumes).toEqual(
        expect.arrayContaining([
          {
            name: 'kafka-ca',
            secret: { secretName: 'events-cluster-ca-cert', items: [item('ca.crt')], defaultMode: 0o440 },
          },
          {
            name: 'kafka-certificate',
            secret: { secretName: 'orders', items: [item('user.crt'), item('user.key')], defaultMode: 0o440 },
          },
          { name: 'database-ca', configMap: { name: 'rds-bundle', items: [item('global-bundle.pem')] } },
          {
            name: 'database-certificate',
            secret: { secretName: 'client', items: [item('tls.crt'), item('tls.key')], defaultMode: 0o440 },
          },
        ]),
      );
    },
  );

  test('are never mounted by subPath, which the kubelet does not renew', () => {
    const mounts = podOf('Deployment').containers.flatMap(({ volumeMounts }) => volumeMounts);
    expect(mounts.filter(({ name }) => /^(kafka|database)-/.test(name))).toEqual([
      { name: 'kafka-ca', mountPath: '/etc/stream-consumer-kafka-ca', readOnly: true },
      { name: 'kafka-certificate', mountPath: '/etc/stream-consumer-kafka-tls', readOnly: true },
      { name: 'database-ca', mountPath: '/etc/stream-consumer-database-ca', readOnly: true },
      { name: 'database-certificate', mountPath: '/etc/stream-consumer-database-tls', readOnly: true },
    ]);
  });

  test('are named in application.yml, beside what the user says of TLS, at the places where they are mounted', () => {
    const settings: unknown = parse(applicationYaml(exampleWorkload(CHANGES)));
    expect(valueAt(settings, ['kafka', 'tls'])).toEqual({
      serverName: 'kafka.example.com',
      ca: '/etc/stream-consumer-kafka-ca/ca.crt',
      certificate: '/etc/stream-consumer-kafka-tls/user.crt',
      privateKey: '/etc/stream-consumer-kafka-tls/user.key',
    });
    expect(valueAt(settings, ['database'])).toEqual({
      migrate: false,
      tls: {
        ca: '/etc/stream-consumer-database-ca/global-bundle.pem',
        certificate: '/etc/stream-consumer-database-tls/tls.crt',
        privateKey: '/etc/stream-consumer-database-tls/tls.key',
      },
    });
  });

  test('need no login, and are what the consumer itself accepts', () => {
    const { settings } = exampleWorkload(CHANGES);
    expect(settings.kafka.sasl).toBeUndefined();
    expect(settings.kafka.tls).toMatchObject({ ca: '/etc/stream-consumer-kafka-ca/ca.crt', verifyHostName: true });
  });

  test('come from one source', () => {
    const both = { ca: { existingSecret: 'a', existingConfigMap: 'b' } };
    expect(places({ kafka: { tls: both }, application: { kafka: { ssl: true } } })).toEqual(['kafka.tls.ca']);
    expect(places({ database: { tls: { ca: {} } } })).toEqual(['database.tls.ca']);
  });

  test('are for TLS', () => {
    expect(places({ kafka: { tls: KAFKA_TLS } })).toContain('application.kafka.ssl');
  });

  test('may not stand in application as well, nor may a key at all', () => {
    const tls = { ca: '/a', certificate: '/b' };
    expect(places({ ...CHANGES, application: { kafka: { ssl: true, tls }, database: { tls } } })).toEqual(
      expect.arrayContaining([
        'application.kafka.tls.ca',
        'application.kafka.tls.certificate',
        'application.database.tls.ca',
        'application.database.tls.certificate',
      ]),
    );
    const checked = checkConsumerFile(
      consumerDocument({ application: { kafka: { ssl: true, tls: { privateKey: '/c' } } } }),
    );
    expect(checked.ok ? [] : checked.problems).toMatchObject([
      {
        path: 'application.kafka.tls.privateKey',
        allowed: expect.stringContaining('kafka.tls.clientCertificate.existingSecret'),
      },
    ]);
  });

  test('leave folders of their own free of mounts of the user', () => {
    const pods = {
      volumes: [{ name: 'kafka-ca', emptyDir: {} }],
      volumeMounts: [{ name: 'kafka-ca', mountPath: '/etc/stream-consumer-kafka-ca' }],
    };
    expect(places({ pods })).toEqual(['pods.volumes[0].name', 'pods.volumeMounts[0].mountPath']);
  });
});

describe('KEDA', () => {
  const authentication = (changes: object) =>
    only(renderedConsumer({ ...KEDA, ...changes }), 'TriggerAuthentication')['spec'];

  test('is given the certificates and the login', () => {
    const sasl = { application: { kafka: { ssl: true, sasl: { mechanism: 'scram-sha-512' } } } };
    expect(authentication({ kafka: { existingSecret: 'login', tls: KAFKA_TLS }, ...sasl })).toEqual({
      secretTargetRef: [
        { parameter: 'username', name: 'login', key: 'username' },
        { parameter: 'password', name: 'login', key: 'password' },
        { parameter: 'cert', name: 'orders', key: 'user.crt' },
        { parameter: 'key', name: 'orders', key: 'user.key' },
        { parameter: 'ca', name: 'events-cluster-ca-cert', key: 'ca.crt' },
      ],
    });
  });

  test('is given an authority of a ConfigMap, without any login', () => {
    const tls = { ca: { existingConfigMap: 'company-ca' } };
    const changes = { kafka: { tls }, application: { kafka: { ssl: true } } };
    expect(authentication(changes)).toEqual({
      configMapTargetRef: [{ parameter: 'ca', name: 'company-ca', key: 'ca.crt' }],
    });
    expect(only(renderedConsumer({ ...KEDA, ...changes }), 'ScaledObject')['spec']).toMatchObject({
      triggers: [{ metadata: { tls: 'enable', sasl: 'none' }, authenticationRef: { name: 'orders-consumer' } }],
    });
  });

  test.each<[string, object]>([
    ['ca', { ca: '/somewhere/ca.crt' }],
    ['serverName', { serverName: 'kafka.example.com' }],
    ['verifyHostName', { verifyHostName: false }],
  ])('is refused with application.kafka.tls.%s, which it cannot follow', (key, tls) => {
    expect(places({ application: { kafka: { ssl: true, tls } } })).toEqual([]);
    expect(places({ ...KEDA, application: { kafka: { ssl: true, tls } } })).toEqual([`application.kafka.tls.${key}`]);
  });
});

describe('the Secret of an OAuth login', () => {
  const oauth = { tokenEndpoint: 'https://login.example.com/token' };
  const changes = {
    secrets: { as: 'environment' },
    kafka: { existingSecret: 'client', keys: { clientSecret: 'secret' } },
    application: { kafka: { ssl: true, sasl: { mechanism: 'oauthbearer', oauth } } },
  };

  test('has the keys clientId and clientSecret', () => {
    const spec = only(renderedConsumer(changes), 'Deployment')['spec'] as {
      template: { spec: { containers: [{ env: object[] }] } };
    };
    expect(spec.template.spec.containers[0].env).toEqual(
      expect.arrayContaining([
        {
          name: 'KAFKA_SASL_OAUTH_CLIENT_ID',
          valueFrom: { secretKeyRef: { name: 'client', key: 'clientId', optional: true } },
        },
        { name: 'KAFKA_SASL_OAUTH_CLIENT_SECRET', valueFrom: { secretKeyRef: { name: 'client', key: 'secret' } } },
      ]),
    );
  });
});

test('what makes the Secret of a login has to say its name', () => {
  expect(places({ kafka: { externalSecret: { store: 'vault', remoteKey: 'a' } } })).toEqual(['kafka.existingSecret']);
});

describe('certificates for the schema registry', () => {
  const url = 'https://registry.example.com';
  const tls = { ca: { existingConfigMap: 'authorities' }, clientCertificate: { existingSecret: 'client' } };
  const changes = { schemaRegistry: { tls }, application: { schemaRegistry: { url, tls: { serverName: 'r' } } } };

  test('are folders whose files the settings name', () => {
    expect(valueAt(parse(applicationYaml(exampleWorkload(changes))), ['schemaRegistry'])).toEqual({
      url,
      tls: {
        serverName: 'r',
        ca: '/etc/stream-consumer-schema-registry-ca/ca.crt',
        certificate: '/etc/stream-consumer-schema-registry-tls/tls.crt',
        privateKey: '/etc/stream-consumer-schema-registry-tls/tls.key',
      },
    });
    const { template } = only(renderedConsumer(changes), 'Deployment')['spec'] as { template: { spec: Pod } };
    const volumes = template.spec.volumes.map(({ name }) => name).filter((name) => name.startsWith('schema-'));
    expect(volumes).toEqual(['schema-registry-ca', 'schema-registry-certificate']);
  });

  test('are named by nobody else, and want a URL that they are for', () => {
    const own = { url, tls: { ca: '/mine/ca.crt' } };
    expect(places({ ...changes, application: { schemaRegistry: own } })).toEqual(['application.schemaRegistry.tls.ca']);
    expect(places({ ...changes, application: { schemaRegistry: { url: 'http://b' } } })).toEqual([
      'application.schemaRegistry.tls',
    ]);
    expect(places({ schemaRegistry: { tls } })).toEqual(['application.schemaRegistry.url']);
    expect(places({ ...changes, application: { schemaRegistry: { url, tls: 'x' } } })).toEqual([
      'application.schemaRegistry.tls',
    ]);
  });
});
