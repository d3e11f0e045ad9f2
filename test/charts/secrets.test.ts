import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadSettings } from '../../app/configuration/load-settings.ts';
import { applicationYaml } from '../../charts/config-map.ts';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { consumerDocument, exampleWorkload } from './example-consumer.ts';
import { deploymentSpec, only, onlyContainer, renderedConsumer } from './rendered-consumer.ts';

const SECURED = {
  kafka: { existingSecret: 'brokers' },
  application: { kafka: { sasl: { mechanism: 'plain' } } },
};
const AS_FILES = { secrets: { as: 'files' }, ...SECURED };
const SEALED = `AgB${'x'.repeat(120)}`;

interface Projection {
  readonly secret: {
    readonly name: string;
    readonly optional?: boolean;
    readonly items: readonly { readonly key: string; readonly path: string }[];
  };
}

function projected(changes: object = AS_FILES) {
  const volumes = deploymentSpec(renderedConsumer(changes)).template.spec.volumes ?? [];
  const found = volumes.find((volume) => volume['name'] === 'secrets');
  return found?.['projected'] as { readonly defaultMode: number; readonly sources: readonly Projection[] } | undefined;
}

test('what makes the Secrets is what it was', () => {
  const externalSecret = { store: 'vault', remoteKey: 'teams/orders/database' };
  const sealedSecret = { encryptedData: { username: SEALED, password: SEALED }, scope: 'namespace-wide' };
  const objects = renderedConsumer({
    ...SECURED,
    kafka: { ...SECURED.kafka, sealedSecret },
    database: { externalSecret },
  });
  expect([only(objects, 'ExternalSecret'), only(objects, 'SealedSecret')].map(({ spec }) => spec)).toMatchSnapshot();
});

describe('Secrets as files', () => {
  test('are a config tree that only the own group may read, with a file for each setting', () => {
    expect(projected()).toEqual({
      defaultMode: 0o440,
      sources: [
        { secret: { name: 'orders-consumer-database', items: [{ key: 'url', path: 'database/url' }] } },
        {
          secret: {
            name: 'orders-consumer-database',
            optional: true,
            items: [
              { key: 'user', path: 'database/user' },
              { key: 'password', path: 'database/password' },
            ],
          },
        },
        { secret: { name: 'brokers', items: [{ key: 'password', path: 'kafka/sasl/password' }] } },
        { secret: { name: 'brokers', optional: true, items: [{ key: 'username', path: 'kafka/sasl/username' }] } },
      ],
    });
  });

  test('are the id and the secret of a client at the token endpoint, for oauthbearer', () => {
    const sasl = { mechanism: 'oauthbearer', oauth: { tokenEndpoint: 'https://id.example.com/token' } };
    const { sources = [] } = projected({ ...AS_FILES, application: { kafka: { sasl } } }) ?? {};
    expect(sources.slice(2)).toEqual([
      {
        secret: { name: 'brokers', items: [{ key: 'clientSecret', path: 'kafka/sasl/oauth/clientSecret' }] },
      },
      {
        secret: {
          name: 'brokers',
          optional: true,
          items: [{ key: 'clientId', path: 'kafka/sasl/oauth/clientId' }],
        },
      },
    ]);
  });

  test('are mounted where CONFIG_TREE says, and nothing of them is in the environment', () => {
    const { env, volumeMounts } = onlyContainer(renderedConsumer(AS_FILES));
    const mountPath = '/etc/stream-consumer-secrets';
    expect(volumeMounts).toContainEqual({ name: 'secrets', mountPath, readOnly: true });
    expect(env).toContainEqual({ name: 'CONFIG_TREE', value: mountPath });
    expect(JSON.stringify(env)).not.toContain('secretKeyRef');
  });

  test('are the default, and not there where variables are asked for', () => {
    expect(projected({})).toBeDefined();
    expect(projected({ secrets: { as: 'environment' } })).toBeUndefined();
  });

  test('are read by the consumer', () => {
    const folder = mkdtempSync(join(tmpdir(), 'secret-files-'));
    try {
      const files = projected()?.sources.flatMap(({ secret }) => secret.items.map(({ path }) => path)) ?? [];
      for (const path of files) {
        mkdirSync(join(folder, dirname(path)), { recursive: true });
        writeFileSync(join(folder, path), `postgresql://${path}`);
      }
      writeFileSync(join(folder, 'application.yml'), applicationYaml(exampleWorkload(AS_FILES)));
      const env = { CONFIG_TREE: folder };
      expect(loadSettings({ configFile: join(folder, 'application.yml'), env, cwd: folder })).toMatchObject({
        ok: true,
        value: {
          database: { url: 'postgresql://database/url', password: 'postgresql://database/password' },
          kafka: { sasl: { username: 'postgresql://kafka/sasl/username' } },
        },
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('a refusal names', () => {
  const originsIn = (changes: object) =>
    (onlyContainer(renderedConsumer(changes))['env'] as readonly { name: string; value?: string }[])
      .filter(({ name }) => name.endsWith('_CREDENTIALS_FROM'))
      .map(({ name, value }) => [name, value]);
  const DATABASE = ['DATABASE_CREDENTIALS_FROM', 'Secret orders-consumer-database, keys url, user, password'];

  test.each(['files', 'environment'])('the Secrets and their keys, mounted as %s', (as) => {
    const keys = { password: 'pw' };
    const kafka = { existingSecret: 'brokers', keys };
    expect(originsIn({ ...SECURED, kafka, secrets: { as } })).toEqual([
      DATABASE,
      ['KAFKA_CREDENTIALS_FROM', 'Secret brokers, keys username, pw'],
    ]);
    expect(originsIn({ secrets: { as } })).toEqual([DATABASE]);
  });

  test('the Secrets and ConfigMaps with certificates', () => {
    const clientCertificate = { existingSecret: 'client' };
    const tls = { ca: { existingConfigMap: 'authorities' }, clientCertificate };
    const changes = { application: { kafka: { ssl: true } }, kafka: { tls }, database: { tls: { clientCertificate } } };
    expect(originsIn(changes)).toEqual([
      [DATABASE[0], `${DATABASE[1]}; Secret client, keys tls.crt, tls.key`],
      ['KAFKA_CREDENTIALS_FROM', 'ConfigMap authorities, key ca.crt; Secret client, keys tls.crt, tls.key'],
    ]);
  });
});

describe('an ExternalSecret', () => {
  const externalSecret = { store: 'vault', remoteKey: 'teams/orders/database' };

  test('makes the Secret that the Pods take, from all properties of the remote one', () => {
    const objects = renderedConsumer({ database: { existingSecret: 'pg', externalSecret } });
    const { metadata, spec } = only(objects, 'ExternalSecret');
    expect(metadata.name).toBe('pg');
    expect(spec).toEqual({
      refreshInterval: '1h',
      secretStoreRef: { kind: 'ClusterSecretStore', name: 'vault' },
      target: { name: 'pg', creationPolicy: 'Owner' },
      dataFrom: [{ extract: { key: 'teams/orders/database' } }],
    });
    expect(JSON.stringify(deploymentSpec(objects).template.spec.volumes)).toContain('"name":"pg"');
  });

  test('can look into a store of the namespace', () => {
    const changes = {
      database: { externalSecret: { ...externalSecret, storeKind: 'SecretStore', refreshInterval: '5m' } },
    };
    expect(only(renderedConsumer(changes), 'ExternalSecret')['spec']).toMatchObject({
      refreshInterval: '5m',
      secretStoreRef: { kind: 'SecretStore' },
    });
  });
});

describe('a SealedSecret', () => {
  const rendered = (scope?: string) => {
    const sealedSecret = { encryptedData: { url: SEALED }, ...(scope !== undefined && { scope }) };
    return only(renderedConsumer({ database: { existingSecret: 'pg', sealedSecret } }), 'SealedSecret');
  };

  test('makes the Secret that the Pods take, from what kubeseal encrypted for its name and namespace', () => {
    const { metadata, spec } = rendered();
    expect(metadata).toMatchObject({ name: 'pg', namespace: 'stream-consumer' });
    expect(metadata).not.toHaveProperty('annotations');
    expect(spec).toMatchObject({
      encryptedData: { url: SEALED },
      template: { metadata: { name: 'pg', namespace: 'stream-consumer' } },
    });
  });

  test.each(['namespace-wide', 'cluster-wide'])('says that it was encrypted %s', (scope) => {
    const annotations = { [`sealedsecrets.bitnami.com/${scope}`]: 'true' };
    expect(rendered(scope)).toMatchObject({
      metadata: { annotations },
      spec: { template: { metadata: { annotations } } },
    });
  });
});

describe('a wrong source of a Secret', () => {
  const externalSecret = { store: 'vault', remoteKey: 'a' };
  const sealedSecret = { encryptedData: { url: SEALED } };

  test.each<[string, object, string]>([
    ['beside another', { database: { externalSecret, sealedSecret } }, 'database'],
    [
      'in clear',
      { database: { sealedSecret: { encryptedData: { url: 'hunter2' } } } },
      'database.sealedSecret.encryptedData.url',
    ],
    [
      'of one Secret for two',
      { ...SECURED, database: { existingSecret: 's', externalSecret }, kafka: { existingSecret: 's', externalSecret } },
      'database.existingSecret',
    ],
  ])('%s is refused', (_, changes, path) => {
    const checked = checkConsumerFile(consumerDocument(changes));
    expect(checked.ok ? [] : checked.problems.map((problem) => problem.path)).toEqual([path]);
  });
});
