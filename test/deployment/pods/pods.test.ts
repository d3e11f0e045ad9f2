import { describe, expect, test } from '@jest/globals';
import { readEnvironment } from '../../../app/configuration/read-environment.ts';
import { checkConsumerFile } from '../../../deployment/check-consumer.ts';
import { describeProblem } from '../../../settings/schema/problem.ts';
import type { SchemaNode } from '../../../settings/schema/schema.ts';
import { environmentName, listSettings, springEnvironmentName } from '../../../settings/schema/setting-list.ts';
import { SettingsSchema } from '../../../settings/settings.ts';
import { consumerDocument } from '../../charts/example-consumer.ts';
import { onlyContainer, renderedConsumer } from '../../charts/rendered-consumer.ts';

const schema = SettingsSchema as SchemaNode;

function problemsOf(environment: Readonly<Record<string, string>>) {
  const checked = checkConsumerFile(consumerDocument({ pods: { environment } }));
  return checked.ok ? [] : checked.problems;
}

const variables = [
  ...new Set(
    listSettings(schema).flatMap(({ environmentName: name, path, schema: { type } }) =>
      [name, springEnvironmentName(path)].flatMap((each) => {
        const named = each.replace('<N>', '0').replace('<NAME>', 'MINE');
        return type === 'array' ? [named, `${named}_0`] : [named];
      }),
    ),
  ),
];

describe('the environment of Pods', () => {
  test.each(variables)('has no %s, which the process would take for a setting', (name) => {
    expect(readEnvironment(schema, { [name]: 'hunter2' })).not.toEqual([]);
    const [problem, ...more] = problemsOf({ [name]: 'hunter2' });
    expect(more).toEqual([]);
    expect(problem).toMatchObject({ path: `pods.environment.${name}`, message: expect.stringMatching(/^is /) });
    expect(problem && describeProblem(problem)).not.toContain('hunter2');
  });

  test.each([
    ['SERVER_PORT', 'the setting server.port', 'application.server.port'],
    ['MANAGEMENT_SERVER_PORT', 'the setting management.server.port', 'application.management.server.port'],
    ['MANAGEMENT_ENDPOINTS_WEB_BASEPATH', 'the setting management.endpoints.web.base-path', 'application.management'],
    ['SERVER_SSL_CERTIFICATE', 'the setting server.ssl.certificate', 'monitoring.tls.existingSecret'],
    ['DATABASE_MIGRATE', 'the setting database.migrate', 'database.migrate'],
    ['DATABASE_POOLSIZE', 'the setting database.poolSize', 'application.database.poolSize'],
    ['KAFKA_GROUP_INSTANCE_ID', 'the setting kafka.groupInstanceId', 'the manifests set it to the uid of each Pod'],
    ['KAFKA_BROKERS_0', 'the setting kafka.brokers', 'application.kafka.brokers'],
    ['MANAGEMENT_METRICS_TAGS_REGION', 'the setting management.metrics.tags', 'application.management.metrics.tags'],
    ['TABLES_0_TOPIC_1', 'the setting tables[<n>].topic', 'application.tables[<n>].topic'],
    ['TABLES_12_COLUMNS_CUSTOMER_NAME', 'the setting tables[<n>].columns', 'application.tables[<n>].columns'],
    ['INFO_TEAM_NAME', 'the setting info', 'application.info'],
    ['DATABASE_URL', 'is a secret', 'a Secret in the cluster, named by database.existingSecret'],
    ['KAFKA_SASL_PASSWORD', 'is a secret', 'a Secret in the cluster, named by kafka.existingSecret'],
    ['MANAGEMENT_SECURITY_TOKEN', 'is a secret', 'named by monitoring.credentials.existingSecret'],
    ['CONFIG_FILE', 'is set by the manifests', 'application'],
    ['CONFIG_TREE', 'is set by the manifests', 'secrets.as: files'],
    ['NODE_OPTIONS', 'is set by the manifests', 'resources.limits.memory'],
    ['POD_IP', 'is set by the manifests', 'application.spring.boot.admin.client'],
    ['PGPASSWORD', 'is read by the PostgreSQL client', 'database.existingSecret'],
    ['PGHOST', 'is read by the PostgreSQL client', 'database.existingSecret'],
    ['PGUSER', 'is read by the PostgreSQL client', 'database.existingSecret'],
    ['PGPASSFILE', 'is read by the PostgreSQL client', 'database.existingSecret'],
    ['PGSSLMODE', 'is read by the PostgreSQL client', '?sslmode=verify-full'],
    ['PGOPTIONS', 'is read by the PostgreSQL client', '?sslmode=verify-full'],
    ['USER', 'is read by the PostgreSQL client', 'database.existingSecret'],
    ['NODE_PG_FORCE_NATIVE', 'asks for a PostgreSQL client that the image has not', 'nothing'],
    ['NODE_TLS_REJECT_UNAUTHORIZED', 'switches off', 'NODE_EXTRA_CA_CERTS'],
    ['LD_PRELOAD', 'loads code into the process', 'image'],
    ['LD_LIBRARY_PATH', 'loads code into the process', 'image'],
    ['LD_AUDIT', 'loads code into the process', 'image'],
    ['NODE_PATH', 'loads code into the process', 'image'],
  ])('has no %s: it %s, and belongs elsewhere: %s', (name, reason, home) => {
    const [problem, ...more] = problemsOf({ [name]: '1' });
    expect(more).toEqual([]);
    expect(problem?.path).toBe(`pods.environment.${name}`);
    expect(problem?.message).toContain(reason);
    expect(problem?.allowed).toContain(home);
  });

  test('has all that is left, as it is written', () => {
    const environment = {
      TZ: 'UTC',
      NODE_EXTRA_CA_CERTS: '/etc/ca.crt',
      UV_THREADPOOL_SIZE: '8',
      HTTPS_PROXY: 'http://proxy:3128',
      KAFKA_RACK: 'a placeholder of application',
      DATABASE_URL_READ_ONLY: 'the same',
      OLD_LD_PRELOAD: '',
      UPGRADE: '',
      server_port: 'the process looks for capitals',
    };
    expect(problemsOf(environment)).toEqual([]);
    const { env } = onlyContainer(renderedConsumer({ pods: { environment } }));
    expect(env).toEqual(expect.arrayContaining(Object.entries(environment).map(([name, value]) => ({ name, value }))));
  });

  test.each(['server_port', 'Server_Port', 'kafka_groupid', 'KAFKA_RACK', 'SERVERPORT'])(
    'may have %s, which the process does not take for a setting',
    (name) => {
      expect(readEnvironment(schema, { [name]: '1' })).toEqual([]);
      expect(problemsOf({ [name]: '1' })).toEqual([]);
    },
  );

  test('has no names with dots or dashes, which no shell could set', () => {
    for (const name of ['SERVER.PORT', 'server.port', 'server-port']) {
      expect(problemsOf({ [name]: '1' })).toHaveLength(1);
    }
  });

  test('is refused with all problems at once', () => {
    const names = ['SERVER_PORT', 'PGPASSWORD', 'LD_PRELOAD', 'CONFIG_FILE', environmentName('kafka.groupId')];
    const found = problemsOf(Object.fromEntries(names.map((name) => [name, 'x'])));
    expect(found.map(({ path }) => path)).toEqual(names.map((name) => `pods.environment.${name}`));
  });

  test('has no name that the manifests themselves set', () => {
    const changes = {
      kafka: { existingSecret: 'kafka' },
      application: {
        kafka: { sasl: { mechanism: 'plain' } },
        spring: { boot: { admin: { client: { url: ['https://admin.example'] } } } },
      },
      monitoring: { credentials: { type: 'basic', existingSecret: 'metrics' } },
    };
    for (const secrets of [{ as: 'environment' }, { as: 'files' }]) {
      const env = onlyContainer(renderedConsumer({ ...changes, secrets }))['env'] as readonly { name: string }[];
      expect(env.length).toBeGreaterThan(3);
      expect(env.filter(({ name }) => problemsOf({ [name]: 'x' }).length !== 1)).toEqual([]);
    }
  });
});
