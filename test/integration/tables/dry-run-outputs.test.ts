import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CompressionTypes } from 'kafkajs';
import { folderWith } from '../../app/configuration/folder.ts';
import { query } from '../stack/database.ts';
import { createTopic, kafkaClient, produce } from '../stack/kafka-client.ts';
import { flipBit, sharedSegmentOf } from '../stack/log-segment.ts';
import { closeShop, customers, dryRun, openShop, real, topicOf, valuesOf } from './dry-run-shop.ts';

beforeAll(openShop);

afterAll(closeShop);

describe('tables dry-run shows', () => {
  test('placeholders that keep what a column has, and defaults where no value came', async () => {
    await query(
      real(
        `CREATE TABLE shop.documents (id int PRIMARY KEY, doc text, note text DEFAULT 'x', absent text DEFAULT 'y');
        INSERT INTO shop.documents (id, doc) VALUES (2, 'large')`,
      ),
    );
    const change = (id: number, doc: string) => ({
      key: JSON.stringify({ id }),
      value: JSON.stringify({ before: null, after: { id, doc, note: 'n' }, op: 'u' }),
    });
    const topic = await topicOf([
      change(1, 'whole'),
      change(2, '__debezium_unavailable_value'),
      { key: '{"id":1}', value: null },
    ]);
    const tables = [{ topic, table: 'shop.documents', key: 'id', envelope: 'debezium' }];
    expect(await dryRun(tables)).toMatchSnapshot();
    expect((await dryRun(tables, ['--json'])).stdout).toMatchSnapshot();
  });

  test('records that do nothing, as tombstones where nothing is deleted', async () => {
    const topic = await topicOf([...valuesOf({ id: 1, name: 'Ada' }), { key: '1', value: null }]);
    expect(await dryRun([{ ...customers(topic), delete: 'never' }])).toMatchSnapshot();
  });

  test('batches that cannot be read, with code 65, and the records before them', async () => {
    const topic = await topicOf(valuesOf({ id: 1 }));
    // The checksum in the output is that of these bytes.
    await produce(topic, [{ value: '{"id":2,"note":"damaged"}', timestamp: 0 }]);
    await flipBit(await sharedSegmentOf(topic), 'damaged');
    const tables = [{ topic, table: 'shop.orders' }];
    expect(await dryRun(tables)).toMatchSnapshot();
    const { stdout } = await dryRun(tables, ['--json']);
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      records: 1,
      unreadable: [{ topic: 'topic0', partition: 0, code: 'CORRUPT_BATCH', offset: 1 }],
    });
  });
});

/** A topic whose values have a schema of Avro that is no record, and a table for the whole of them. */
async function wholeBytes(name: string, schema: unknown, values: readonly string[]) {
  const topic = await createTopic();
  await produce(
    topic,
    values.map((value) => ({ value: Buffer.from(value, 'hex') })),
  );
  await query(real(`CREATE TABLE shop.${name} (content bytea NOT NULL CHECK (content = '\\xcafe'))`));
  const file = join(folderWith({ 'schema.avsc': JSON.stringify(schema) }), 'schema.avsc');
  const tables = [{ topic, table: `shop.${name}`, columns: { content: '$value' } }];
  return dryRun(tables, ['--json'], { formats: { [topic]: { value: { avro: file } } } });
}

describe('a column of type bytea takes the whole value', () => {
  test.each([
    ['bytes', 'bytes', '04cafe'],
    ['fixed', { type: 'fixed', name: 'Two', size: 2 }, 'cafe'],
  ] as const)('of a schema of %s', async (name, schema, value) => {
    const { code, stdout, stderr } = await wholeBytes(`whole_${name}`, schema, [value]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('"records":1,"stored":1');
  });

  test('and is a dead letter where that is a record', async () => {
    const schema = { type: 'record', name: 'Row', fields: [{ name: 'id', type: 'int' }] };
    const { code, stdout } = await wholeBytes('whole_record', schema, ['02']);
    expect(code).toBe(65);
    expect(stdout).toContain('"reason":"value_does_not_fit"');
  });
});

/** A file of samples, by its path. */
const sampleOf = (...lines: readonly string[]): string =>
  join(folderWith({ 'sample.jsonl': lines.join('\n') }), 'sample.jsonl');

const linesOf = (stdout: string): readonly Readonly<Record<string, unknown>>[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('tables dry-run --sample takes', () => {
  test('headers, timestamps and JSON of any members from the file', async () => {
    await query(
      real('CREATE TABLE shop.marked (tag text NOT NULL, at timestamptz NOT NULL, base64 text NOT NULL, x int)'),
    );
    const tables = [{ topic: 'marks', table: 'shop.marked', columns: { tag: '$header.tag', at: '$timestamp' } }];
    const line = (members: object) => JSON.stringify({ value: { base64: 'QQ==', x: 1 }, ...members });
    const tag = [{ key: 'tag', value: 'a' }];
    const sample = sampleOf(
      line({ headers: tag, timestamp: 0 }),
      line({ headers: tag }),
      line({ headers: [{ key: 'tag', value: null }], timestamp: '1795443421556' }),
      line({ timestamp: 0 }),
    );
    const { code, stdout } = await dryRun(tables, ['--sample', sample, '--json']);
    expect(code).toBe(65);
    expect(linesOf(stdout).map(({ outcome, targetColumn }) => [outcome, targetColumn])).toEqual([
      ['stored', undefined],
      ['dead letter', 'at'],
      ['dead letter', 'tag'],
      ['dead letter', 'tag'],
      [undefined, undefined],
    ]);
  });

  test('more records than are tried at once, each of them once', async () => {
    const ids = Array.from({ length: 1_003 }, (_, id) => id);
    const sample = sampleOf(...ids.map((id) => JSON.stringify({ value: { id } })));
    const { code, stdout } = await dryRun([{ topic: 'orders', table: 'shop.orders' }], ['--sample', sample, '--json']);
    const tried = linesOf(stdout);
    expect(code).toBe(0);
    expect(tried.slice(0, -1).map(({ offset }) => offset)).toEqual(ids);
    expect(tried.at(-1)).toMatchObject({ records: 1_003, stored: 1_003 });
  });

  test('and makes a dead letter of each record, where a consumer would stop at so many', async () => {
    const sample = sampleOf(...Array.from({ length: 1_003 }, () => '{"value":"no json"}'));
    const { code, stdout, stderr } = await dryRun([customers('a')], ['--sample', sample]);
    expect({ code, stderr }).toEqual({ code: 65, stderr: '' });
    expect(stdout).toContain('\n1,003 records: 0 would be stored, 1,003 would be dead letters\n');
  });
});

describe('tables dry-run refuses, with code 78, what does not fit into its memory:', () => {
  const TOO_MUCH = 'asks for records of more than 128 MiB';

  test('a larger file, which it does not read', async () => {
    const sample = join(folderWith({}), 'large.jsonl');
    writeFileSync(sample, '');
    truncateSync(sample, 128 * 1_048_576 + 1);
    const { code, stdout, stderr } = await dryRun([customers('a')], ['--sample', sample]);
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toContain(`--sample ${TOO_MUCH}`);
  });

  test('records of Kafka that are larger together, and takes fewer of them', async () => {
    const topic = await createTopic({ config: { 'max.message.bytes': '40000000' } });
    const producer = kafkaClient().producer();
    await producer.connect();
    const value = JSON.stringify({ id: 1, note: ' '.repeat(16_000_000) });
    for (let nth = 0; nth < 9; nth += 1) {
      await producer.send({ topic, messages: [{ value }], compression: CompressionTypes.GZIP });
    }
    await producer.disconnect();
    const tables = [{ topic, table: 'shop.orders' }];
    const { code, stdout, stderr } = await dryRun(tables);
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toContain(`--records ${TOO_MUCH}: 100`);
    expect((await dryRun(tables, ['--records', '1'])).stdout).toContain('\n1 record: 0 would be stored, 1 would be');
  });
});
