import { expect, test } from '@jest/globals';
import { createTopic } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { runCommand } from '../stack/run-command.ts';
import { sharedBroker, sharedDatabaseUrl } from '../stack/shared-stack.ts';

test('x', async () => {
  const topic = await createTopic({ partitions: 3 });
  const env = {
    KAFKA_BROKERS: sharedBroker(),
    KAFKA_TOPICS: `${topic},ordres`,
    KAFKA_GROUP_ID: randomName('group'),
    DATABASE_URL: sharedDatabaseUrl(),
    DATABASE_SCHEMA: randomName('schema'),
    SERVER_PORT: '0',
  };
  const started = performance.now();
  const { stdout, stderr, code } = await runCommand(['doctor'], { env });
  process.stderr.write(`${stdout}\n${stderr}\n${code} ${performance.now() - started}\n`);
  const second = await runCommand(['doctor'], { env: { ...env, KAFKA_BROKERS: '127.0.0.1:1,nowhere.invalid:9', DATABASE_URL: 'postgresql://u:p@127.0.0.1:2,127.0.0.1:3/d' } });
  process.stderr.write(`${second.stdout}\n${second.stderr}\n${second.code}\n`);
  expect(1).toBe(1);
}, 120_000);
