import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { javaCommand, QUICK_START } from '../../../dev/stack/java-program.ts';
import { KAFKA_JARS } from '../../../dev/stack/local-kafka.ts';
import { mavenJars } from '../../../dev/stack/maven-jars.ts';
import { pythonPackage } from './python-package.ts';
import { sharedBroker } from './shared-stack.ts';
import { testRun } from './test-run.ts';

/** The codecs by the names that producers have for them. */
export const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;

/** Values that a producer sends to partition 0 of a topic, in one batch where they fit into it. */
export interface Sent {
  readonly topic: string;
  readonly codec: (typeof CODECS)[number];
  readonly values: readonly string[];
  /** Commits them in a transaction of this id. @default no transaction */
  readonly transactionalId?: string;
  /** @default 0 */
  readonly partition?: number;
}

/** Runs a class of Kafka's jars to its end. @throws Error with its output when it fails */
export async function runJava(jars: string, main: string, args: readonly string[]): Promise<void> {
  const { code, output } = await (await testRun()).complete(javaCommand({ jars, main, args, jvm: QUICK_START }));
  if (code !== 0) {
    throw new Error(`${main} ended with ${code}: ${output.join('\n')}`);
  }
}

/**
 * Sends as many of the values as there are, chosen at random, by Java's own producer. The values must have no line
 * breaks.
 */
export async function sendByJava({ topic, codec, values, transactionalId }: Omit<Sent, 'partition'>): Promise<void> {
  const run = await testRun();
  const jars = await mavenJars(run, KAFKA_JARS, () => undefined);
  const file = join(await mkdtemp(join(run.path, 'java-')), 'values');
  await writeFile(file, values.join('\n'));
  await runJava(jars, 'org.apache.kafka.tools.ProducerPerformance', [
    ...['--throughput', '-1', '--bootstrap-server', sharedBroker(), '--topic', topic, '--payload-file', file],
    ...['--num-records', String(values.length)],
    ...['--command-property', `compression.type=${codec}`, 'batch.size=500000', 'linger.ms=100', 'acks=all'],
    ...(transactionalId === undefined ? [] : ['--transactional-id', transactionalId]),
  ]);
}

/** librdkafka and its binding for Python, as PyPI has them for this machine. */
const BINDING = 'confluent-kafka==2.16.0';

const PRODUCE = `
import json, sys
from confluent_kafka import Producer
sent = json.load(sys.stdin)
producer = Producer(sent['config'])
transactional = 'transactional.id' in sent['config']
if transactional:
    producer.init_transactions(60)
    producer.begin_transaction()
refused = []
told = lambda error, _: refused.append(str(error)) if error else None
for value in sent['values']:
    producer.produce(sent['topic'], value=value, partition=sent['partition'], on_delivery=told)
if transactional:
    producer.commit_transaction(60)
assert producer.flush(60) == 0
assert not refused, refused[0]
`;

/** Sends the values by librdkafka, in their order. */
export async function sendByLibrdkafka({ topic, codec, values, transactionalId, partition = 0 }: Sent): Promise<void> {
  const config = {
    'bootstrap.servers': sharedBroker(),
    'compression.type': codec,
    'linger.ms': 100,
    'batch.size': 1_000_000,
    // The sizes before packing count.
    'message.max.bytes': 500_000_000,
    'queue.buffering.max.kbytes': 1_000_000,
    ...(transactionalId === undefined ? {} : { 'transactional.id': transactionalId }),
  };
  const env = { ...process.env, PYTHONPATH: await pythonPackage(BINDING, 'confluent_kafka') };
  const python = spawn('python3', ['-c', PRODUCE], { env, stdio: ['pipe', 'ignore', 'pipe'] });
  let said = '';
  python.stderr.on('data', (chunk) => {
    said += String(chunk);
  });
  python.stdin.end(JSON.stringify({ config, topic, partition, values }));
  const [code] = await once(python, 'close');
  if (code !== 0) {
    throw new Error(`librdkafka ended with ${code}: ${said}`);
  }
}
