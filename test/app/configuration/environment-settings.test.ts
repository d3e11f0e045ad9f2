// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the placeholders of the configuration
import { describe, expect, test } from '@jest/globals';
import type { SchemaNode } from '../../../settings/schema/schema.ts';
import { listSettings, springEnvironmentName } from '../../../settings/schema/setting-list.ts';
import { type Settings, SettingsSchema } from '../../../settings/settings.ts';
import { load, problems, REQUIRED, warnings, yaml } from './loading.ts';

describe('the environment', () => {
  test('is enough without any file', () => {
    expect(load({})).toMatchObject({
      server: { port: 8080 },
      kafka: { brokers: ['localhost:9092'], topics: ['orders'], groupId: 'orders-to-postgres' },
      database: { url: 'postgresql://localhost/orders', schema: 'stream_consumer' },
    });
  });

  test.each([
    ['SERVER_PORT', '9090', (settings: Settings) => settings.server.port, 9090],
    ['KAFKA_BROKERS', 'a:1, b:2', (settings: Settings) => settings.kafka.brokers, ['a:1', 'b:2']],
    ['KAFKA_TOPICS', 'a,b', (settings: Settings) => settings.kafka.topics, ['a', 'b']],
    ['KAFKA_GROUP_ID', 'g', (settings: Settings) => settings.kafka.groupId, 'g'],
    ['DATABASE_URL', 'postgres://h/d', (settings: Settings) => settings.database.url, 'postgres://h/d'],
    ['DATABASE_SCHEMA', 's', (settings: Settings) => settings.database.schema, 's'],
    ['DATABASE_PASSWORD', ' 0123 ', (settings: Settings) => settings.database.password, ' 0123 '],
    ['KAFKA_SSL', 'true', (settings: Settings) => settings.kafka.ssl, true],
    ['DEAD_LETTERS_MAX_RATIO', '0.05', (settings: Settings) => settings.deadLetters.maxRatio, 0.05],
    [
      'MANAGEMENT_HEALTH_KAFKA_IN_ROOT',
      'on',
      (settings: Settings) => settings.management.health.kafka['in-root'],
      true,
    ],
    [
      'MANAGEMENT_HEALTH_DISKSPACE_THRESHOLD',
      '10MB',
      (settings: Settings) => settings.management.health.diskspace.threshold,
      '10MB',
    ],
    [
      'MANAGEMENT_METRICS_TAGS_REGION',
      'eu-1',
      (settings: Settings) => settings.management.metrics.tags['region'],
      'eu-1',
    ],
    [
      'MANAGEMENT_METRICS_TAGS_APPLICATION',
      'mine',
      (settings: Settings) => settings.management.metrics.tags['application'],
      'mine',
    ],
  ])('%s sets its setting', (name, value, read, expected) => {
    expect(read(load({ env: { ...REQUIRED, [name]: value } }))).toEqual(expected);
  });

  test("finds Spring's form without the inner underscores, and prefers the documented one", () => {
    const { KAFKA_GROUP_ID, ...rest } = REQUIRED;
    expect(load({ env: { ...rest, KAFKA_GROUPID: 'spring' } }).kafka.groupId).toBe('spring');
    expect(load({ env: { ...rest, KAFKA_GROUPID: 'spring', KAFKA_GROUP_ID } }).kafka.groupId).toBe(KAFKA_GROUP_ID);
  });

  test('has a name for every setting, and both forms of all names are different', () => {
    const entries = listSettings(SettingsSchema as SchemaNode);
    const names = entries.flatMap(({ environmentName, path }) => [
      ...new Set([environmentName, springEnvironmentName(path)]),
    ]);
    expect(entries.length).toBeGreaterThan(20);
    expect(new Set(names).size).toBe(names.length);
  });

  test('gives lists by index', () => {
    const { KAFKA_BROKERS: _replaced, ...rest } = REQUIRED;
    const env = { ...rest, KAFKA_BROKERS_0: 'a:1', KAFKA_BROKERS_1: 'b:2', KAFKA_BROKERS_3: 'd:4' };
    expect(load({ env }).kafka.brokers).toEqual(['a:1', 'b:2']);
  });

  test('may hold names that are no settings, such as those of service links', () => {
    const links = { KAFKA_PORT: 'tcp://10.0.0.1:9092', KAFKA_SERVICE_HOST: '10.0.0.1', SERVER: 'x', DATABASE_: 'y' };
    expect(load({ env: { ...REQUIRED, ...links } })).toEqual(load({}));
  });

  test('names the variable in a problem', () => {
    expect(problems({ env: { ...REQUIRED, SERVER_PORT: 'tcp://10.0.0.1:8080' } })).toEqual([
      {
        path: 'server.port',
        message: 'has the wrong type',
        given: 'tcp://10.0.0.1:8080',
        allowed: 'a whole number from 0 to 65535',
        source: 'environment variable SERVER_PORT',
      },
    ]);
  });

  test('names the variable of the item that is wrong', () => {
    const { KAFKA_BROKERS: _replaced, ...rest } = REQUIRED;
    expect(problems({ env: { ...rest, KAFKA_BROKERS_0: 'a:1', KAFKA_BROKERS_1: 'b' } })).toMatchObject([
      { path: 'kafka.brokers[1]', source: 'environment variable KAFKA_BROKERS_1' },
    ]);
    expect(problems({ env: { ...REQUIRED, KAFKA_BROKERS: 'a:1,b' } })).toMatchObject([
      { path: 'kafka.brokers[1]', source: 'environment variable KAFKA_BROKERS' },
    ]);
  });
});

describe('a variable whose name is nearly that of a setting', () => {
  test.each([
    ['KAFKA_BROKER', 'KAFKA_BROKERS'],
    ['KAFKA_GROUP', 'KAFKA_GROUP_ID'],
    ['KAFKA_BROKER_0', 'KAFKA_BROKERS_0'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['CONSUMER_STALL_TIME_OUTS', 'CONSUMER_STALL_TIMEOUT'],
    ['DEAD_LETTERS_MAX_RATO', 'DEAD_LETTERS_MAX_RATIO'],
    ['TABLES_0_TOPICS', 'TABLES_0_TOPIC'],
  ])('is warned of: %s', (name, meant) => {
    expect(warnings({ env: { [name]: 'hunter2' } })).toEqual([
      `the environment variable ${name} names no setting and is ignored; did you mean ${meant}?`,
    ]);
  });

  test.each([
    ['is a setting', { KAFKA_BROKERS: 'a', KAFKA_BROKERS_1: 'b', KAFKA_GROUPID: 'c', TABLES_0_TOPIC: 'd' }],
    ['has a free part', { MANAGEMENT_METRICS_TAGS_APPLICATIO: 'a', TABLES_0_COLUMNS_ID: 'id' }],
    ['begins as no setting does', { KAFK_BROKERS: 'a', BROKERS: 'b', PATH: 'c' }],
    ['differs in more letters', { KAFKA_HEAP_OPTS: '-Xmx1g', DATABASE_NAME: 'a', KAFKA_LOG_DIRS: 'b' }],
    ['is near to one that is set', { KAFKA_BROKER: 'a', KAFKA_BROKERS: 'b' }],
    [
      'is one that Kubernetes sets for a Service',
      { KAFKA_SERVICE_HOST: '10.0.0.1', KAFKA_PORT: 'tcp://10.0.0.1:9092', DATABASE_PORT: 'a' },
    ],
  ])('is not warned of when it %s', (_name, env) => {
    expect(warnings({ env })).toEqual([]);
  });

  test('is not warned of when a placeholder asks for it', () => {
    const cwd = yaml('database: { user: "${DATABASE_USR}", password: "${database.passwrd}" }');
    const env = { DATABASE_USR: 'me', DATABASE_PASSWRD: 'hunter2' };
    expect(warnings({ cwd, env })).toEqual([]);
    expect(warnings({ env })).toHaveLength(2);
  });
});
