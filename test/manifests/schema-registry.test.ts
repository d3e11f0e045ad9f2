import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { applicationYaml } from '../../charts/config-map.ts';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { valueAt } from '../../settings/schema/document.ts';
import { consumerDocument, exampleWorkload } from '../charts/example-consumer.ts';
import { deploymentSpec, only, onlyContainer, renderedConsumer } from '../charts/rendered-consumer.ts';

/** A consumer with all that consumer.yaml can say of a registry. */
const COMPLETE = {
  schemaRegistry: {
    existingSecret: 'registry',
    tls: { ca: { existingConfigMap: 'company-ca' }, clientCertificate: { existingSecret: 'registry-client' } },
  },
  networkPolicy: { egress: { schemaRegistry: [{ namespace: 'registry' }] } },
  application: {
    schemaRegistry: { url: 'https://registry.example.com:8443/apis/ccompat/v7', username: 'orders' },
    formats: { orders: 'registry' },
  },
};

interface Projection {
  readonly secret: {
    readonly name: string;
    readonly optional?: boolean;
    readonly items: readonly { readonly key: string; readonly path: string }[];
  };
}

/** The volume of the config tree, which the kubelet renews. */
function projected(changes: object) {
  const volumes = deploymentSpec(renderedConsumer(changes)).template.spec.volumes ?? [];
  const found = volumes.find((volume) => volume['name'] === 'secrets');
  return found?.['projected'] as { readonly sources: readonly Projection[] } | undefined;
}

test('all objects of a consumer with a registry are what they were', () => {
  expect(renderedConsumer(COMPLETE)).toMatchSnapshot();
});

test('what changes in its Secrets comes to the process: folders are mounted, no file by subPath, no variable', () => {
  const container = onlyContainer(renderedConsumer(COMPLETE));
  const mounts = container['volumeMounts'] as readonly { readonly name: string; readonly subPath?: string }[];
  expect(mounts.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['secrets', 'schema-registry-ca', 'schema-registry-certificate']),
  );
  expect(mounts.filter(({ subPath }) => subPath !== undefined)).toEqual([]);
  const variables = container['env'] as readonly { readonly name: string; readonly valueFrom?: object }[];
  expect(variables.filter(({ name }) => name.startsWith('SCHEMA_REGISTRY')).map(({ name }) => name)).toEqual([
    'SCHEMA_REGISTRY_CREDENTIALS_FROM',
  ]);
  expect(variables).toContainEqual(expect.objectContaining({ name: 'CONFIG_TREE' }));
});

test('the ConfigMap has the files of its certificates, and nothing of its login but the user', () => {
  expect(valueAt(parse(applicationYaml(exampleWorkload(COMPLETE))), ['schemaRegistry'])).toEqual({
    ...COMPLETE.application.schemaRegistry,
    tls: {
      ca: '/etc/stream-consumer-schema-registry-ca/ca.crt',
      certificate: '/etc/stream-consumer-schema-registry-tls/tls.crt',
      privateKey: '/etc/stream-consumer-schema-registry-tls/tls.key',
    },
  });
});

describe('the login at the schema registry', () => {
  const url = 'https://registry.example.com';
  const REGISTRY = { existingSecret: 'registry' };

  /** The files that come from the Secret of the registry, by whether they have to be there. */
  const files = (schemaRegistry: object, application: object = {}) =>
    projected({ secrets: { as: 'files' }, schemaRegistry, application: { schemaRegistry: { url, ...application } } })
      ?.sources.filter(({ secret }) => secret.name === 'registry')
      .flatMap(({ secret: { optional = false, items } }) => items.map(({ key, path }) => ({ key, path, optional })));

  test.each<[object, object, readonly object[]]>([
    [
      {},
      {},
      [
        { key: 'password', path: 'schemaRegistry/password', optional: false },
        { key: 'username', path: 'schemaRegistry/username', optional: true },
      ],
    ],
    [{ type: 'bearer', keys: { token: 'jwt' } }, {}, [{ key: 'jwt', path: 'schemaRegistry/token', optional: false }]],
    [
      {},
      { oauth: { tokenEndpoint: 'https://id.example.com/token', logicalCluster: 'lsrc-1' } },
      [
        { key: 'clientSecret', path: 'schemaRegistry/oauth/clientSecret', optional: false },
        { key: 'clientId', path: 'schemaRegistry/oauth/clientId', optional: true },
      ],
    ],
  ])('is files of its Secret: %j beside %j', (registry, application, expected) => {
    expect(files({ ...REGISTRY, ...registry }, application)).toEqual(expected);
  });

  test('is named to the container, and is in no ConfigMap', () => {
    const changes = { schemaRegistry: REGISTRY, application: { schemaRegistry: { url, username: 'app' } } };
    const { env } = onlyContainer(renderedConsumer(changes));
    expect(env).toContainEqual({
      name: 'SCHEMA_REGISTRY_CREDENTIALS_FROM',
      value: 'Secret registry, keys username, password',
    });
    expect(applicationYaml(exampleWorkload(changes))).not.toContain('from-secret');
  });

  test.each<[object, readonly string[]]>([
    [
      { application: { schemaRegistry: { url, username: 'u' } } },
      ['schemaRegistry.existingSecret is missing, and application.schemaRegistry.username needs a password'],
    ],
    [
      { application: { schemaRegistry: { url, oauth: { tokenEndpoint: 'https://id/t', clientId: 'c' } } } },
      ['schemaRegistry.existingSecret is missing, and application.schemaRegistry.oauth needs the secret of its client'],
    ],
    [
      { schemaRegistry: REGISTRY, application: { schemaRegistry: { url, oauth: { tokenFile: '/token' } } } },
      [
        'schemaRegistry.existingSecret gives credentials that a login by application.schemaRegistry.oauth.tokenFile does not read',
      ],
    ],
    [{ schemaRegistry: REGISTRY }, ['application.schemaRegistry.url is missing']],
    [
      {
        schemaRegistry: { externalSecret: { store: 'vault', remoteKey: 'k' } },
        application: { schemaRegistry: { url } },
      },
      [
        'schemaRegistry.existingSecret is missing, and schemaRegistry.externalSecret or schemaRegistry.sealedSecret makes a Secret',
      ],
    ],
    [
      { application: { schemaRegistry: { url, token: 'abc' } } },
      ['application.schemaRegistry.token is a secret, and a manifest is no place for one'],
    ],
  ])('and its Secret need each other: %j', (changes, expected) => {
    const checked = checkConsumerFile(consumerDocument(changes));
    expect(checked.ok ? [] : checked.problems.map(({ path, message }) => `${path} ${message}`)).toEqual(expected);
  });

  test('may come from an ExternalSecret', () => {
    const externalSecret = { store: 'vault', remoteKey: 'teams/registry' };
    const schemaRegistry = { ...REGISTRY, externalSecret };
    const objects = renderedConsumer({ schemaRegistry, application: { schemaRegistry: { url } } });
    expect(only(objects, 'ExternalSecret').metadata).toMatchObject({ name: 'registry' });
  });
});
