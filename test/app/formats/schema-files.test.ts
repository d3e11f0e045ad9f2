import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { FieldReaders } from '../../../app/formats/field-readers.ts';
import { SCHEMA_FILE_RULES } from '../../../app/formats/schema-files.ts';
import { recordsOf } from '../../../app/records/pack-records.ts';
import { sentJson } from '../../../app/tables/json/json-slice.ts';
import { describeProblem } from '../../../settings/schema/problem.ts';
import type { FileFormat } from '../../../settings/sections/formats.ts';
import { checkSettings } from '../../../settings/settings.ts';
import { aRecord } from '../stream/records.ts';

const folder = mkdtempSync(join(tmpdir(), 'schemas-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

/** Problems of one file as a person reads them, without its folder. */
function problems(value: FileFormat): readonly string[] {
  const checked = checkSettings(
    {
      kafka: { brokers: ['k:9092'], topics: ['orders'], groupId: 'g' },
      database: { url: 'postgresql://h/d' },
      formats: { orders: { value } },
    },
    SCHEMA_FILE_RULES,
  );
  return checked.ok ? [] : checked.problems.map((each) => describeProblem(each).replaceAll(`${folder}/`, ''));
}

const AVRO = 'a schema of Avro, as JSON';
const PROTO = 'a schema of Protobuf, as protoc takes it';

test('a file with a schema is nothing wrong', async () => {
  expect(problems({ avro: await file('a.avsc', '{"type":"record","name":"R","fields":[]}') })).toEqual([]);
  await file('common/money.proto', 'syntax = "proto3"; package common; message Money {}');
  await file('acme/side.proto', 'syntax = "proto3"; package acme; message Side {}');
  const text = `syntax = "proto3"; package acme; import "common/money.proto"; import "side.proto";
    import "google/protobuf/timestamp.proto"; message Tick { common.Money m = 1; Side s = 2; }`;
  expect(problems({ protobuf: await file('acme/tick.proto', text), message: 'acme.Tick' })).toEqual([]);
});

test.each<[string, string, string]>([
  ['no.avsc', '{\n  "type": \n}', 'names a file that is no JSON (line 3)'],
  ['end.avsc', '{\n  "type": "record"', 'names a file that is no JSON (line 2)'],
  [
    'type.avsc',
    '{"type":"record","name":"R","fields":[\n{"name":"a","type":"Nope"}]}',
    'names a file that cannot be used: its schema type.avsc is no Avro schema: it has no definition of the type Nope (line 2)',
  ],
  [
    'syntax.proto',
    'syntax = "proto3";\nmessage M {\n  int32 = 1;\n}',
    "names a file that cannot be used: its schema syntax.proto is no Protobuf schema: illegal name '=' (line 3)",
  ],
  [
    'type.proto',
    'syntax = "proto3";\nmessage M {\n  message Deep { message Nope {} }\n  Nope n = 1;\n}',
    'names a file that cannot be used: its schema type.proto is no Protobuf schema: the type Nope of M.n is not defined (line 3)',
  ],
  [
    'import.proto',
    'import "gone.proto"; message M {}',
    'names a file that cannot be used: its schema import.proto is no Protobuf schema: it imports gone.proto, which is neither given nor built in',
  ],
])('%s is a problem with its line', async (name, text, words) => {
  const path = await file(name, text);
  const isAvro = name.endsWith('avsc');
  const setting = `formats.orders.value.${isAvro ? 'avro' : 'protobuf'}`;
  expect(problems(isAvro ? { avro: path } : { protobuf: path, message: 'M' })).toEqual([
    `${setting} ${words}: "${name}"\n  allowed: ${isAvro ? AVRO : PROTO}`,
  ]);
});

test('a file that is not there is a problem, and so is a folder', () => {
  expect(problems({ avro: join(folder, 'gone.avsc') })).toEqual([
    expect.stringMatching(/^formats\.orders\.value\.avro names a file that does not exist/),
  ]);
  expect(problems({ protobuf: folder, message: 'M' })).toEqual([
    expect.stringMatching(/^formats\.orders\.value\.protobuf names a file that is a folder/),
  ]);
});

test('a message that the file does not have is one, which lists those that it has', async () => {
  const protobuf = await file('two.proto', 'package acme; message Tick { message Part {} } message Tock {}');
  expect(problems({ protobuf, message: 'acme.Tik' })).toEqual([
    'formats.orders.value.message is no message of two.proto: "acme.Tik"; did you mean acme.Tick?\n' +
      '  allowed: acme.Tick, acme.Tick.Part, acme.Tock',
  ]);
});

test('values are read by the schema in a file, and its path is in the words of what is refused', async () => {
  const avro = await file('long.avsc', '{"type":"record","name":"R","fields":[{"name":"id","type":"long"}]}');
  const protobuf = await file('long.proto', 'syntax = "proto3"; message R { int64 id = 1; }');
  const read = (value: FileFormat, bytes: Buffer) => {
    const fields = new FieldReaders(() => ({ key: undefined, value: [value] })).ofValue('t', { paths: [['id'], []] });
    let found: readonly unknown[] = [];
    recordsOf([aRecord(0n, { value: bytes })]).forEach((record) => {
      const reason = fields.read(bytes, 0, bytes.length, record);
      found = [reason ?? [0, 1].map((place) => fields.of(place)).map((part) => part && sentJson(part)), fields.words];
    });
    return found;
  };
  expect(read({ avro }, Buffer.from([0x0a]))).toEqual([['5', '{"id":5}'], undefined]);
  expect(read({ protobuf, message: 'R' }, Buffer.from([8, 5]))).toEqual([['5', '{"id":5}'], undefined]);
  const [reason, words] = read({ protobuf, message: 'R' }, Buffer.from([8]));
  expect([reason, words]).toEqual([
    'undecodable',
    `its bytes are no R of the schema ${protobuf}: a value of it ends behind them`,
  ]);
});
