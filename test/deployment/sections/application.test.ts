import { describe, expect, test } from '@jest/globals';
import { checkConsumerFile } from '../../../deployment/check-consumer.ts';
import { describeProblem } from '../../../settings/schema/problem.ts';
import { consumerDocument } from '../../charts/example-consumer.ts';

const management = (more: object) => ({ application: { management: more } });
const exposure = (of: object) => management({ endpoints: { web: { exposure: of } } });
const NO_PROBE_GROUPS = { probes: { enabled: false } };
const group = { include: ['ping'] };

function problemsOf(changes: object): string[] {
  const checked = checkConsumerFile(consumerDocument(changes));
  return checked.ok ? [] : checked.problems.map(describeProblem);
}

test.each<[string, object, string]>([
  ['a port chosen at the start', { application: { server: { port: 0 } } }, 'application.server.port would be chosen'],
  ['such a management port', management({ server: { port: 0 } }), 'application.management.server.port would be chosen'],
  [
    'an address out of reach',
    management({ server: { address: '127.0.0.1' } }),
    'application.management.server.address is out of reach for the probes, which ask at the Pod\'s address: "127.0.0.1"',
  ],
  [
    'the files of a certificate',
    { application: { server: { ssl: { certificate: '/a', 'certificate-private-key': '/b' } } } },
    'application.server.ssl names files that nothing puts into the container',
  ],
  [
    'the name of one process in the group',
    { application: { kafka: { groupInstanceId: 'a' } } },
    'application.kafka.groupInstanceId names one process, and each Pod of the Deployment would have the name: "a"\n  allowed: nothing here; the manifests set it to the uid of each Pod',
  ],
  ['health left out', exposure({ include: ['prometheus'] }), 'leaves out health, which both probes'],
  ['prometheus excluded', exposure({ exclude: ['prometheus'] }), 'leaves out prometheus, which every scrape'],
  [
    'probes of groups that are not there',
    { probes: { paths: 'groups' }, ...management({ endpoint: { health: NO_PROBE_GROUPS } }) },
    'switches off: liveness, readiness',
  ],
  [
    'a credential that is written down',
    management({ security: { token: 'b-7f3a' } }),
    'a Secret in the cluster with the key token, named by monitoring.credentials.existingSecret',
  ],
])('%s is a problem, the only one, and shows no secret', (_what, changes, text) => {
  const problems = problemsOf(changes);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(text);
  expect(problems[0]).not.toContain('b-7f3a');
});

test.each<[string, object]>([
  ['port 0 beside a management port', { application: { server: { port: 0 }, management: { server: { port: 81 } } } }],
  ['endpoints that nobody asks left out', exposure({ exclude: ['info', 'metrics'] })],
  ['no probe groups when the probes ask the root', management({ endpoint: { health: NO_PROBE_GROUPS } })],
  [
    "the user's own groups instead",
    {
      probes: { paths: 'groups' },
      ...management({ endpoint: { health: { ...NO_PROBE_GROUPS, group: { liveness: group, readiness: group } } } }),
    },
  ],
])('%s is right', (_what, changes) => {
  expect(problemsOf(changes)).toEqual([]);
});

const HEALTH = { 'show-details': 'never', 'show-components': 'always', status: { 'http-mapping': { down: 500 } } };
const SPRING_NAMES = {
  management: {
    endpoints: { web: { 'base-path': '/ops' } },
    endpoint: { health: { ...HEALTH, probes: { 'add-additional-paths': true } } },
    health: { kafka: { 'in-root': true } },
  },
};
const CAMEL_CASE = {
  management: {
    endpoints: { web: { basePath: '/ops' } },
    endpoint: {
      health: {
        ...{ showDetails: 'never', showComponents: 'always', status: { httpMapping: { down: 500 } } },
        probes: { addAdditionalPaths: true },
      },
    },
    health: { kafka: { inRoot: true } },
  },
};

describe("settings that Spring Boot has in kebab-case are consumer.yaml's in camelCase", () => {
  const checked = (application: object) => checkConsumerFile(consumerDocument({ application }));

  test('and make the same application.yml as in kebab-case', () => {
    const [spring, camel] = [checked(SPRING_NAMES), checked(CAMEL_CASE)];
    expect(camel.ok && camel.value.application).toEqual(spring.ok && spring.value.application);
    expect(camel.ok && camel.value.settings).toEqual(spring.ok && spring.value.settings);
    expect(camel.ok && camel.value.settings.management.endpoints.web['base-path']).toBe('/ops');
  });

  test('which both together are a problem', () => {
    expect(problemsOf(management({ endpoints: { web: { basePath: '/a', 'base-path': '/b' } } }))).toEqual([
      'application.management.endpoints.web.basePath is set beside base-path, which is the same\n  allowed: one of both',
    ]);
  });

  test('and problems name them so', () => {
    expect(problemsOf(management({ health: { kafka: { 'in-root': 'perhaps' } } }))[0]).toMatch(
      /^application\.management\.health\.kafka\.inRoot has the wrong type/,
    );
    expect(problemsOf(management({ endpoint: { health: { showDetail: 'never' } } }))[0]).toMatch(
      /did you mean application\.management\.endpoint\.health\.showDetails\?\n {2}allowed: .*showComponents/,
    );
  });

  test('but names that the user chooses stay as they are', () => {
    const tagged = checked({ info: { basePath: 1, 'base-path': 2 } });
    expect(tagged.ok && tagged.value.application['info']).toEqual({ basePath: 1, 'base-path': 2 });
  });
});
