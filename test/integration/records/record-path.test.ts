import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { PATH, ROOT } from '../../walls/record-path.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { testRun } from '../stack/test-run.ts';

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

/** The functions that a process ran, by the files of the source, as V8 counted them. */
async function functionsRun(folder: string): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const [file = ''] = await readdir(folder);
  const { result } = JSON.parse(await readFile(join(folder, file), 'utf8')) as Coverage;
  const ofRepository = result.flatMap(({ url, functions }) => {
    const [, path] = /\/(app\/[^?]*\.ts)/.exec(url.slice(`file://${ROOT}`.length)) ?? [];
    const run = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
    const names = run.map(({ functionName, ranges }) => `${functionName}@${ranges[0]?.startOffset}`);
    return path === undefined ? [] : [[path, new Set(names)] as const];
  });
  return new Map(ofRepository);
}

/** What a consumer runs of a topic with so many records, from its start to its end. */
async function runOf(records: number): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const folder = await mkdtemp(join((await testRun()).path, 'coverage-'));
  const topic = await createTopic();
  if (records > 0) {
    await produce(topic, Array(records).fill({ key: 'a key', value: '{}', headers: { trace: 'id' } }));
  }
  const consumer = await startConsumer({ topics: [topic], program: 'source', env: { NODE_V8_COVERAGE: folder } });
  await consumer.waitForHealth();
  await awaitEachOnce({ schema: consumer.schema, topic, records });
  consumer.kill('SIGTERM');
  await consumer.exited;
  return functionsRun(folder);
}

/** Files in which a consumer runs a function for a record that it runs at no other time. */
let passed: readonly string[] = [];

beforeAll(async () => {
  const [withRecord, without] = await Promise.all([runOf(1), runOf(0)]);
  passed = [...withRecord]
    .filter(([file, functions]) => [...functions].some((name) => !without.get(file)?.has(name)))
    .map(([file]) => file);
});

test('a record that is written passes each file of the path in CONTRIBUTING.md', () => {
  expect(PATH.length).toBeGreaterThan(2);
  expect(PATH.filter((file) => !passed.includes(file))).toEqual([]);
});

test.each([
  'app/store/copy/isolate-poison.ts',
  'app/kafka/dead-letter-producer.ts',
  'app/tables/table/table-encoder.ts',
])('it does not pass %s', (file) => expect(passed).not.toContain(file));
