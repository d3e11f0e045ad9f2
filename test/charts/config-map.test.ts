import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { loadSettings } from '../../app/configuration/load-settings.ts';
import { applicationYaml } from '../../charts/config-map.ts';
import { environment } from '../../charts/container.ts';
import { credentials } from '../../charts/secrets.ts';
import { checkedWorkload } from '../../deployment/checked-workload.ts';
import { exampleConsumer, exampleWorkload } from './example-consumer.ts';

const render = (changes: object = {}): string => applicationYaml(exampleWorkload(changes));

describe('application.yml in the ConfigMap', () => {
  test('says what consumer.yaml says, and writes out the port and the label application', () => {
    expect(parse(render())).toEqual({
      kafka: { brokers: ['kafka:9092'], topics: ['orders'], groupId: 'orders-consumer' },
      server: { port: 8080 },
      management: { metrics: { tags: { application: 'orders-consumer' } } },
    });
  });

  test('keeps tags, and a label application of the user', () => {
    const tags = { team: 'payments', application: 'mine' };
    const written: unknown = parse(render({ application: { management: { metrics: { tags } } } }));
    expect(written).toMatchObject({ management: { metrics: { tags } } });
  });

  test('keeps texts that look like something else', () => {
    const tags = { a: 'yes', b: 'no', c: 'on', d: '012', e: '1e3', f: '' };
    const written: unknown = parse(render({ application: { management: { metrics: { tags } } } }));
    expect(written).toMatchObject({ management: { metrics: { tags } } });
  });
});

describe('the consumer in the Pod', () => {
  let folder = '';

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'application-yaml-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test("loads the settings that synth checked, with the secrets of the container's environment", () => {
    const consumer = exampleConsumer({
      secrets: { as: 'environment' },
      kafka: { existingSecret: 'brokers' },
      application: { kafka: { sasl: { mechanism: 'plain' } }, server: { port: 9000 }, shutdown: { timeout: '5s' } },
    });
    const own = checkedWorkload(consumer);
    writeFileSync(join(folder, 'application.yml'), applicationYaml(own));
    const secrets = environment(own, credentials(own)).filter(({ valueFrom }) => valueFrom !== undefined);
    const env = Object.fromEntries(secrets.map(({ name }) => [name, `postgresql://${name}`]));
    const loaded = loadSettings({ configFile: join(folder, 'application.yml'), env, cwd: folder });
    expect(loaded).toMatchObject({
      ok: true,
      value: {
        ...consumer.settings,
        kafka: {
          sasl: {
            mechanism: 'plain',
            username: 'postgresql://KAFKA_SASL_USERNAME',
            password: 'postgresql://KAFKA_SASL_PASSWORD',
          },
        },
        database: {
          url: 'postgresql://DATABASE_URL',
          user: 'postgresql://DATABASE_USER',
          password: 'postgresql://DATABASE_PASSWORD',
        },
        management: { metrics: { tags: { application: 'orders-consumer' } } },
      },
    });
  });
});
