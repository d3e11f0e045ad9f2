import { describe, expect, test } from '@jest/globals';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { consumerDocument } from './example-consumer.ts';
import { deploymentSpec, only, renderedConsumer } from './rendered-consumer.ts';

interface PolicySpec {
  readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly policyTypes: readonly string[];
  readonly ingress: readonly unknown[];
  readonly egress: readonly { readonly to?: unknown; readonly ports: readonly { protocol: string; port: number }[] }[];
}

const policy = (networkPolicy: object = {}, more: object = {}) =>
  only(renderedConsumer({ networkPolicy, ...more }), 'NetworkPolicy')['spec'] as PolicySpec;

const tcp = (port: number) => ({ protocol: 'TCP', port });

test('the policy is what it was', () => {
  expect(only(renderedConsumer(), 'NetworkPolicy')).toMatchSnapshot();
});

describe('the policy', () => {
  test('is for the Pods of the Deployment, in both directions', () => {
    const { podSelector, policyTypes } = policy();
    const { labels } = deploymentSpec(renderedConsumer()).template.metadata;
    expect(labels).toMatchObject(podSelector.matchLabels);
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
  });

  test('lets the monitoring namespace ask the management port, and nobody else anything', () => {
    const matchLabels = { 'kubernetes.io/metadata.name': 'monitoring' };
    expect(policy().ingress).toEqual([{ from: [{ namespaceSelector: { matchLabels } }], ports: [tcp(8080)] }]);
  });

  test('lets the Pods reach name servers, the ports of the brokers and PostgreSQL, and nothing else', () => {
    const brokers = ['a:9092', 'b:9092', 'c:9094'];
    expect(policy({}, { application: { kafka: { brokers } } }).egress).toEqual([
      { ports: [{ protocol: 'UDP', port: 53 }, tcp(53)] },
      { ports: [tcp(9092), tcp(9094)] },
      { ports: [tcp(5432)] },
    ]);
  });

  describe('for a schema registry', () => {
    const url = ['https://a.example.com', 'http://b:8081/apis/ccompat/v7', 'https://c.example.com'];
    const application = { schemaRegistry: { url } };

    test('lets the Pods reach the ports of its URLs, wherever it is or where it is said to be', () => {
      expect(policy({}, { application }).egress).toContainEqual({ ports: [tcp(443), tcp(8081)] });
      const schemaRegistry = [{ cidr: '10.1.0.0/16' }, { cidr: '10.2.0.0/16', ports: [9443] }];
      const { egress } = policy({ egress: { schemaRegistry } }, { application });
      expect(egress).toContainEqual({ to: [{ ipBlock: { cidr: '10.1.0.0/16' } }], ports: [tcp(443), tcp(8081)] });
      expect(egress).toContainEqual({ to: [{ ipBlock: { cidr: '10.2.0.0/16' } }], ports: [tcp(9443)] });
    });

    test('lets them reach the server of its tokens as well', () => {
      const oauth = { tokenEndpoint: 'https://id.example.com:8443/token', clientId: 'c' };
      const changes = { schemaRegistry: { existingSecret: 'r' }, application: { schemaRegistry: { url, oauth } } };
      expect(policy({}, changes).egress).toContainEqual({ ports: [tcp(8443)] });
    });

    test('and none where there is no registry', () => {
      expect(policy({ egress: { schemaRegistry: [{ cidr: '10.1.0.0/16' }] } }).egress).toHaveLength(3);
    });
  });

  describe('for a login by token', () => {
    const egressFor = (sasl: object, networkPolicy: object = {}) =>
      policy(networkPolicy, { kafka: { existingSecret: 'client' }, application: { kafka: { ssl: true, sasl } } })
        .egress;
    const oauth = (more: object) => ({ mechanism: 'oauthbearer', oauth: more });

    test('lets the Pods reach the port of the token endpoint, wherever it is or where it is said to be', () => {
      const tokenEndpoint = 'https://login.example.com:8443/token';
      expect(egressFor(oauth({ tokenEndpoint }))).toContainEqual({ ports: [tcp(8443)] });
      expect(egressFor(oauth({ tokenEndpoint: 'https://login.example.com/token' }))).toContainEqual({
        ports: [tcp(443)],
      });
      const tokens = [{ cidr: '192.0.2.0/24' }];
      expect(egressFor(oauth({ tokenEndpoint }), { egress: { tokens } })).toContainEqual({
        to: [{ ipBlock: { cidr: '192.0.2.0/24' } }],
        ports: [tcp(8443)],
      });
    });

    const toAws = [
      { ports: [tcp(443)] },
      {
        to: [{ ipBlock: { cidr: '169.254.170.23/32' } }, { ipBlock: { cidr: 'fd00:ec2::23/128' } }],
        ports: [tcp(80)],
      },
    ];

    test("lets the Pods reach AWS's STS, and on their node the EKS Pod Identity Agent", () => {
      const changes = { kafka: undefined, application: { kafka: { ssl: true, sasl: { mechanism: 'aws-msk-iam' } } } };
      expect(policy({}, changes).egress.slice(3)).toEqual(toAws);
    });

    test('does so for RDS IAM too, once for both logins, and for the Job that migrates', () => {
      const database = { user: 'app', tls: { ca: '/etc/ssl/rds.pem' }, rdsIam: { enabled: true } };
      expect(policy({}, { application: { database } }).egress.slice(3)).toEqual(toAws);
      const kafka = { ssl: true, sasl: { mechanism: 'aws-msk-iam' } };
      expect(policy({}, { application: { kafka, database } }).egress.slice(3)).toEqual(toAws);
      const migrate = { existingSecret: 'app', migrate: 'job', owner: { existingSecret: 'owner' } };
      const specs = renderedConsumer({ database: migrate, application: { database } })
        .filter(({ kind }) => kind === 'NetworkPolicy')
        .map(({ spec }) => spec as PolicySpec);
      expect(specs.map(({ egress }) => egress.slice(-2))).toEqual([toAws, toAws]);
    });

    test('opens nothing for a token of a file, nor for a password', () => {
      const file = { kafka: { ssl: true, sasl: oauth({ tokenFile: '/var/run/secrets/tokens/kafka' }) } };
      expect(policy({}, { application: file }).egress).toHaveLength(3);
      expect(egressFor({ mechanism: 'scram-sha-256' })).toHaveLength(3);
    });
  });

  test('moves with server.port', () => {
    expect(policy({}, { application: { server: { port: 9090 } } }).ingress).toMatchObject([{ ports: [tcp(9090)] }]);
  });

  test('takes addresses, Pods of a namespace, Pods of the own namespace, or only ports', () => {
    const database = [
      { cidr: '10.1.2.0/24' },
      { namespace: 'databases', podLabels: { app: 'postgres' }, ports: [6432] },
      { podLabels: { app: 'pgbouncer' }, ports: [6432] },
      { ports: [5433] },
    ];
    const podSelector = { matchLabels: { app: 'postgres' } };
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'databases' } };
    expect(policy({ egress: { database } }).egress.slice(2)).toEqual([
      { to: [{ ipBlock: { cidr: '10.1.2.0/24' } }], ports: [tcp(5432)] },
      { to: [{ namespaceSelector, podSelector }], ports: [tcp(6432)] },
      { to: [{ podSelector: { matchLabels: { app: 'pgbouncer' } } }], ports: [tcp(6432)] },
      { ports: [tcp(5433)] },
    ]);
  });

  test('takes more destinations, and lets nobody in where nobody is named', () => {
    const spec = policy({ ingress: [], egress: { others: [{ namespace: 'schemas', ports: [8081] }] } });
    expect(spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
    expect(spec).not.toHaveProperty('ingress');
    expect(spec.egress.at(-1)).toMatchObject({ ports: [tcp(8081)] });
  });

  test('lets the Pods register at Spring Boot Admin where they are told to', () => {
    const url = ['http://admin.monitoring.svc:8085', 'https://admin.example.com'];
    const { egress } = policy({}, { application: { spring: { boot: { admin: { client: { url } } } } } });
    expect(egress.at(-1)).toEqual({ ports: [tcp(8085), tcp(443)] });
  });

  test('can be left out', () => {
    const kinds = renderedConsumer({ networkPolicy: { enabled: false } }).map(({ kind }) => kind);
    expect(kinds).not.toContain('NetworkPolicy');
  });
});

describe('a wrong place', () => {
  test.each<[string, object, string]>([
    ['of addresses and Pods', { ingress: [{ cidr: '10.0.0.0/8', namespace: 'a' }] }, 'networkPolicy.ingress[0]'],
    ['of nobody', { ingress: [{}] }, 'networkPolicy.ingress[0]'],
    ['without a prefix', { ingress: [{ cidr: '10.0.0.0' }] }, 'networkPolicy.ingress[0].cidr'],
    ['that is an address in a block', { ingress: [{ cidr: '10.1.2.3/8' }] }, 'networkPolicy.ingress[0].cidr'],
    ['that is one of IPv6', { ingress: [{ cidr: '2001:db8::1/32' }] }, 'networkPolicy.ingress[0].cidr'],
    ['that is half of IPv6', { ingress: [{ cidr: '15:7:/46' }] }, 'networkPolicy.ingress[0].cidr'],
    ['with two gaps', { ingress: [{ cidr: '1::2::3/46' }] }, 'networkPolicy.ingress[0].cidr'],
    ['with a zero in front', { ingress: [{ cidr: '010.0.0.0/8' }] }, 'networkPolicy.ingress[0].cidr'],
    ['beyond IPv4', { egress: { dns: [{ cidr: '10.0.0.256/8' }] } }, 'networkPolicy.egress.dns[0].cidr'],
    [
      'elsewhere without ports',
      { egress: { others: [{ cidr: '10.0.0.0/8' }] } },
      'networkPolicy.egress.others[0].ports',
    ],
  ])('%s is refused', (_, networkPolicy, path) => {
    const checked = checkConsumerFile(consumerDocument({ networkPolicy }));
    expect(checked.ok ? [] : checked.problems.map((problem) => problem.path)).toEqual([path]);
  });

  test('of IPv6 is a place', () => {
    const networkPolicy = { ingress: [{ cidr: '2001:db8::/32' }] };
    expect(checkConsumerFile(consumerDocument({ networkPolicy })).ok).toBe(true);
  });
});
