import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse, stringify } from 'yaml';
import { generatedFiles, outdatedFiles, staleFiles } from '../dev/generate/generated-files.ts';
import { consumerDocument, SMALLEST_YAML } from './charts/example-consumer.ts';

const ROOT = join(import.meta.dirname, '..');

function validatorOf(name: string) {
  const file = generatedFiles(ROOT).find(({ path }) => path === `contract/schemas/${name}.schema.json`);
  return new Ajv({ strict: false }).compile(JSON.parse(file?.content ?? 'false'));
}

const VALIDATOR = {
  application: validatorOf('application'),
  consumer: validatorOf('consumer'),
  environment: validatorOf('environment'),
};

const accepts = (name: keyof typeof VALIDATOR, yaml: string): boolean => VALIDATOR[name](parse(yaml)) === true;

test('every generated file is up to date (npm run generate)', () => {
  expect(outdatedFiles(ROOT).map(({ path }) => path)).toEqual([]);
  expect(staleFiles(ROOT)).toEqual([]);
});

describe('the schema of application.yml', () => {
  test('asks for nothing: the environment may give it', () => {
    expect(accepts('application', 'server: { port: 1 }')).toBe(true);
  });

  test("takes the project's own file", () => {
    expect(accepts('application', readFileSync(join(ROOT, 'dev', 'application.yml'), 'utf8'))).toBe(true);
  });

  test.each([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the configuration
    'server: { port: "${PORT:1}" }',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the configuration
    'kafka: { brokers: ["${BROKER}"] }',
    'kafka: { group-id: g, groupId: g }',
    'management.health.kafka.in-root: true',
    'management: { endpoint: { health: { showDetails: never, show-components: always, group: { a.include: db } } } }',
    'management: { endpoints: { web: { exposure: { include: "health,info" } } } }',
    'info: { app: { name: a, tags: [1, { b: true }] } }',
    'tables: [{ topic: a, table: x.a }, { topic: [a, b], table: x.b, columns: { A.b: $key, c: { from: d, as: hex }, e: false } }]',
    'tables: [{ topic: a, table: x.a, key: id }, { topic: b, table: x.b, key: [tenant, id], existing: keep, delete: meta.deleted }]',
    'management: { health.kafka.in-root: true, metrics: { tags: { region: eu } } }',
  ])('takes %s', (text) => {
    expect(accepts('application', text)).toBe(true);
  });

  test.each([
    'server: { port: x }',
    'server: { prt: 1 }',
    'management: { endpoint: { health: { group: { a: { includes: [db] } } } } }',
    'management: { endpoint: { health: { show_details: x } } }',
    'consumer: { startFrom: never }',
    'consumer: { start-from: never }',
    'kafka: { brokers: [] }',
    'tables: orders',
    'tables: [orders]',
    'tables: [{ topic: a }]',
    'tables: [{ topic: a, table: a }]',
    'tables: [{ topic: a, table: x.a, key: [] }]',
    'tables: [{ topic: a, table: x.a, key: id, existing: replaced }]',
    'tables: [{ topic: a, table: x.a, key: id, delete: false }]',
    'tables: [{ topic: a, table: x.a, columns: { b: { as: hex } } }]',
    'tables: [{ topic: a, table: x.a, columns: { b: { from: c, as: hexx } } }]',
  ])('refuses %s', (text) => {
    expect(accepts('application', text)).toBe(false);
  });
});

describe('the schema of consumer.yaml', () => {
  test('takes the committed one', () => {
    expect(accepts('consumer', readFileSync(join(ROOT, 'consumer.yaml'), 'utf8'))).toBe(true);
  });

  test('refuses what the check at synth would refuse', () => {
    expect(accepts('consumer', SMALLEST_YAML)).toBe(true);
    expect(accepts('consumer', `${SMALLEST_YAML}replica: 1\n`)).toBe(false);
  });

  test('takes tables in the place of topics', () => {
    const consumer = (entry: object): string =>
      stringify(consumerDocument({ application: { kafka: { topics: null }, tables: [entry] } }));
    const columns = { a: '$header.x', b: { from: 'c', as: 'epoch-millis' }, d: false };
    expect(accepts('consumer', consumer({ topic: ['a', 'b'], table: 'public.a', fields: 'camelCase', columns }))).toBe(
      true,
    );
    const keyed = { topic: 'a', table: 'public.a', key: ['tenant', 'id'], existing: 'keep', delete: 'never' };
    expect(accepts('consumer', consumer(keyed))).toBe(true);
    expect(accepts('consumer', consumer({ ...keyed, key: ['id', 'id'] }))).toBe(false);
    expect(accepts('consumer', consumer({ topic: 'a,b', table: 'public.a' }))).toBe(false);
    expect(accepts('consumer', consumer({ topic: 'a', table: 'public.a', columns: { a: true } }))).toBe(false);
  });

  test.each(['image', 'database', 'application'])('asks for %s', (part) => {
    expect(accepts('consumer', stringify(consumerDocument({ [part]: null })))).toBe(false);
  });
});

describe('the schema of a consumer.yaml that is only a template', () => {
  const words = stringify({
    labels: { team: 'a' },
    annotations: { 'example.com/owner': 'b' },
    image: { pullPolicy: 'Always' },
    rollout: { minReadySeconds: 5 },
    database: { job: { annotations: { a: 'b' } } },
    pods: { userFromCluster: true, env: [{ name: 'A' }], dnsConfig: {}, hostAliases: [] },
    patches: [{ operations: [{ op: 'remove', path: '/a' }] }],
    extraObjects: [{ kind: 'ConfigMap' }],
  });

  test('asks for nothing, and takes what a consumer may have', () => {
    expect(accepts('consumer', 'base: template\n')).toBe(true);
    expect(accepts('consumer', `base: template\n${words}`)).toBe(true);
    expect(accepts('environment', words)).toBe(true);
  });

  test('has the word in consumer.yaml alone, and no other for it', () => {
    expect(accepts('consumer', 'base: consumer\n')).toBe(false);
    expect(accepts('consumer', `base: consumer\n${SMALLEST_YAML}`)).toBe(true);
    expect(accepts('consumer', `base: templates\n${SMALLEST_YAML}`)).toBe(false);
    expect(accepts('environment', 'base: template\n')).toBe(false);
  });

  test('has only right values', () => {
    for (const wrong of ['labels: { team: 1 }', 'image: { pullPolicy: Sometimes }', 'extraObjects: {}', 'replica: 1']) {
      expect([wrong, accepts('consumer', `base: template\n${wrong}\n`)]).toEqual([wrong, false]);
    }
  });
});

describe('the schema of a consumer.yaml with several consumers', () => {
  const common = 'image: { repository: r }\ndatabase: { existingSecret: s }\n';
  const list = 'consumers:\n  - { name: a, application: { kafka: { topics: [t] } }, kafka: null }\n';

  test('asks for nothing above the list, and for the name of each', () => {
    expect(accepts('consumer', list)).toBe(true);
    expect(accepts('consumer', common + list)).toBe(true);
    expect(accepts('consumer', 'consumers: [{ replicas: 1 }]')).toBe(false);
  });

  test.each([`name: x\n${list}`, 'consumers: []', 'consumers: [{ name: a, replica: 1 }]', `replicas: null\n${list}`])(
    'refuses %s',
    (text) => {
      expect(accepts('consumer', text)).toBe(false);
    },
  );

  test('goes on in the environments', () => {
    expect(accepts('environment', list)).toBe(true);
    expect(accepts('environment', 'consumers: [{ replicas: 1 }]')).toBe(false);
  });
});

describe('the schema of an environment', () => {
  test('takes the committed ones', () => {
    for (const name of readdirSync(join(ROOT, 'environments')).filter((each) => each.endsWith('.yaml'))) {
      expect(accepts('environment', readFileSync(join(ROOT, 'environments', name), 'utf8'))).toBe(true);
    }
  });

  test('takes any part of consumer.yaml, and null to remove one', () => {
    expect(accepts('environment', 'replicas: 3\nimage: { tag: null }\nkafka: null')).toBe(true);
    expect(accepts('environment', 'application: { kafka: { topics: [t] } }')).toBe(true);
  });

  test.each(['replica: 3', 'replicas: many', 'application: { kafka: { brokers: [] } }'])('refuses %s', (text) => {
    expect(accepts('environment', text)).toBe(false);
  });
});
