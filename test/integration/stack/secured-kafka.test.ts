import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { Kafka, type KafkaConfig, logLevel, type SASLOptions } from 'kafkajs';
import { startSecuredKafka, USER } from './secured-kafka.ts';

async function topicsSeen(config: KafkaConfig): Promise<readonly string[]> {
  const admin = new Kafka({ logLevel: logLevel.NOTHING, ...config }).admin();
  await admin.connect();
  return admin.listTopics().finally(() => admin.disconnect());
}

test('each listener of the secured broker takes its login', async () => {
  const kafka = await startSecuredKafka();
  const { files, password } = kafka;
  const ca = await readFile(files.ca, 'utf8');
  const [cert, key] = await Promise.all([readFile(files.clientCertificate), readFile(files.clientKey)]);
  const at = (name: Parameters<typeof kafka.at>[0]) => ({ brokers: [kafka.at(name)] });
  for (const mechanism of ['plain', 'scram-sha-256', 'scram-sha-512'] as const) {
    const sasl = { mechanism, username: USER, password } as SASLOptions;
    expect(await topicsSeen({ ...at('SASL_TLS'), ssl: { ca }, sasl })).toEqual([]);
    expect(await topicsSeen({ ...at('SASL_PLAIN'), sasl })).toEqual([]);
  }
  expect(await topicsSeen({ ...at('TLS'), ssl: { ca } })).toEqual([]);
  expect(await topicsSeen({ ...at('MUTUAL'), ssl: { ca, cert, key } })).toEqual([]);
  expect(await topicsSeen({ brokers: [kafka.broker] })).toEqual([]);
});
