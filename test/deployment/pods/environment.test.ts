import { describe, expect, test } from '@jest/globals';
import { checkConsumerFile } from '../../../deployment/check-consumer.ts';
import { describeProblem, type Problem } from '../../../settings/schema/problem.ts';
import { consumerDocument } from '../../charts/example-consumer.ts';

function problemsOf(pods: object): readonly Problem[] {
  const checked = checkConsumerFile(consumerDocument({ pods }));
  return checked.ok ? [] : checked.problems;
}

const node = { fieldRef: { fieldPath: 'spec.nodeName' } };

describe('variables in the words of Kubernetes', () => {
  test('may come from a Secret, a ConfigMap, the Pod or its limits, or be plain', () => {
    const env = [
      { name: 'A', valueFrom: { secretKeyRef: { name: 'proxy', key: 'token' } } },
      { name: 'B', valueFrom: { configMapKeyRef: { name: 'proxies', key: 'http' } } },
      { name: 'C', valueFrom: node },
      { name: 'D', valueFrom: { resourceFieldRef: { resource: 'limits.memory' } } },
      { name: 'E', value: '$(C)' },
      { name: 'F' },
    ];
    expect(problemsOf({ env })).toEqual([]);
  });

  test.each([
    ['SERVER_PORT', 'application.server.port'],
    ['DATABASE_PASSWORD', 'a Secret in the cluster'],
    ['NODE_OPTIONS', 'resources.limits.memory'],
    ['PGHOST', 'database.existingSecret'],
    ['LD_PRELOAD', 'an image of your own'],
  ])('are no %s, as in pods.environment', (name, home) => {
    const [problem, ...more] = problemsOf({ env: [{ name: 'TZ' }, { name, valueFrom: node }] });
    expect(more).toEqual([]);
    expect(problem).toMatchObject({ path: 'pods.env[1].name', allowed: expect.stringContaining(home) });
  });

  test.each<[string, object, string]>([
    ['one name twice', { env: [{ name: 'A' }, { name: 'A' }] }, 'pods.env[1].name'],
    ['a name of pods.environment', { env: [{ name: 'A' }], environment: { A: 'b' } }, 'pods.env[0].name'],
    ['no source', { env: [{ name: 'A', valueFrom: {} }] }, 'pods.env[0].valueFrom'],
    [
      'two sources',
      { env: [{ name: 'A', valueFrom: { ...node, secretKeyRef: { name: 'a', key: 'b' } } }] },
      'pods.env[0].valueFrom',
    ],
    ['a value beside its source', { env: [{ name: 'A', value: 'b', valueFrom: node }] }, 'pods.env[0].value'],
    [
      'a source that is none',
      { env: [{ name: 'A', valueFrom: { secretRef: {} } }] },
      'pods.env[0].valueFrom.secretRef',
    ],
    ['a name with =', { env: [{ name: 'A=B' }] }, 'pods.env[0].name'],
    ['no name', { env: [{ value: 'b' }] }, 'pods.env[0].name'],
  ])('have not %s', (_, pods, place) => {
    expect(problemsOf(pods).map(({ path }) => path)).toEqual([place]);
  });

  test('are refused with all problems at once, and without their values', () => {
    const env = [
      { name: 'SERVER_PORT', value: 'hunter2hunter2' },
      { name: 'A', value: 'hunter2hunter2', valueFrom: node },
    ];
    const found = problemsOf({ env });
    expect(found.map(({ path }) => path)).toEqual(['pods.env[0].name', 'pods.env[1].value']);
    expect(found.map(describeProblem).join()).not.toContain('hunter2');
  });
});

describe('name servers and host names', () => {
  test('are at their limits', () => {
    const pods = {
      dnsConfig: {
        nameservers: ['192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1'],
        searches: ['.', 'svc.example.com.', '_tcp.example.com'],
        options: [{ name: 'edns0' }],
      },
      hostAliases: [{ ip: '::1', hostnames: ['a', 'b.example.com'] }],
    };
    expect(problemsOf(pods)).toEqual([]);
  });

  test.each<[string, object, string]>([
    ['a name for an address', { hostAliases: [{ ip: 'kafka', hostnames: ['a'] }] }, 'hostAliases[0].ip'],
    ['no address', { hostAliases: [{ hostnames: ['a'] }] }, 'hostAliases[0].ip'],
    [
      'a name with capitals',
      { hostAliases: [{ ip: '192.0.2.1', hostnames: ['Kafka'] }] },
      'hostAliases[0].hostnames[0]',
    ],
    ['a fourth name server', { dnsConfig: { nameservers: Array(4).fill('192.0.2.1') } }, 'dnsConfig.nameservers'],
    ['a server without an address', { dnsConfig: { nameservers: ['dns'] } }, 'dnsConfig.nameservers[0]'],
    ['an option without a name', { dnsConfig: { options: [{ name: '' }] } }, 'dnsConfig.options[0].name'],
    ['a domain with a blank', { dnsConfig: { searches: ['a b'] } }, 'dnsConfig.searches[0]'],
    ['an unknown word', { dnsConfig: { servers: [] } }, 'dnsConfig.servers'],
  ])('are not %s', (_, pods, place) => {
    expect(problemsOf(pods).map(({ path }) => path)).toEqual([`pods.${place}`]);
  });
});
