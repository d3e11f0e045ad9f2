import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { configure } from '../../app/commands/configure.ts';
import { MAX_VALUE_BYTES } from '../../dev/orders/sample-record.ts';

const CONFIG_FILE = join(import.meta.dirname, '..', '..', 'dev', 'application.yml');

function settingsWith(env: Readonly<Record<string, string>>) {
  const decision = configure(['--config', CONFIG_FILE], env, '/');
  if (decision.kind === 'exit') {
    throw new Error(decision.stderr);
  }
  return decision.settings;
}

describe('dev/application.yml', () => {
  test('works without any environment, with the usual ports', () => {
    expect(settingsWith({})).toMatchObject({
      server: { port: 8080 },
      kafka: { brokers: ['127.0.0.1:9092'], topics: ['orders'], groupId: 'stream-consumer' },
      database: { url: 'postgresql://postgres@127.0.0.1:5432/postgres', schema: 'stream_consumer' },
    });
  });

  test('takes from the environment what differs from run to run', () => {
    const env = {
      SERVER_PORT: '20001',
      KAFKA_BROKERS: 'a:1,b:2',
      KAFKA_TOPICS: 'orders-1',
      KAFKA_GROUP_ID: 'g',
      DATABASE_URL: 'postgresql://u:p@h:1/d',
      DATABASE_SCHEMA: 's',
    };
    expect(settingsWith(env)).toMatchObject({
      server: { port: 20_001 },
      kafka: { brokers: ['a:1', 'b:2'], topics: ['orders-1'], groupId: 'g' },
      database: { url: 'postgresql://u:p@h:1/d', schema: 's' },
    });
  });

  test('refuses values as large as the large poison record', () => {
    expect(settingsWith({}).consumer.maxValueBytes).toBe(MAX_VALUE_BYTES);
  });
});
