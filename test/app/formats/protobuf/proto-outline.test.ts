import { expect, test } from '@jest/globals';
import { outlineOfMessage } from '../../../../app/formats/protobuf/proto-outline.ts';
import { schemaOf } from './read-message.ts';

const SCHEMA = `syntax = "proto3"; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
  enum State { NEW = 0; PAID = 1; }
  message Order {
    int32 id = 1; uint32 count = 2; int64 place = 3; uint64 total = 4; float weight = 5; double price = 6; bool is_new = 7;
    string name = 8; bytes image = 9; State state = 10; repeated string tags = 11; map<string, int32> labels = 12;
    Order parent = 13; google.protobuf.Timestamp at = 14; google.protobuf.Int64Value wrapped = 15; optional int32 maybe = 16;
  }`;

const message = schemaOf(SCHEMA).messageAt([0]);
const outline = message && outlineOfMessage(message);

test.each([
  ['id', 'integer'],
  ['count', 'bigint'],
  ['place', 'bigint'],
  ['total', 'numeric'],
  ['weight', 'real'],
  ['price', 'double precision'],
  ['is_new', 'boolean'],
  ['name', 'text'],
  ['image', 'bytea'],
  ['state', 'text'],
  ['tags', 'jsonb'],
  ['labels', 'jsonb'],
  ['parent', 'jsonb'],
  ['at', 'timestamptz'],
  ['wrapped', 'bigint'],
])('the type of PostgreSQL that takes all values of %s is %s', (field, sqlType) => {
  expect(outline?.([field])?.sqlType).toBe(sqlType);
});

test('an enum has its names, and nothing else has some', () => {
  expect(outline?.(['state'])?.symbols).toEqual(['NEW', 'PAID']);
  expect(outline?.(['name'])?.symbols).toBeUndefined();
});

test('a field with presence may be null, and a path may lead into messages', () => {
  expect(['id', 'maybe'].map((field) => outline?.([field])?.isNullable)).toEqual([false, true]);
  expect(outline?.(['parent', 'parent', 'at'])?.sqlType).toBe('timestamptz');
  expect(outline?.(['parent', 'nothing'])).toBeUndefined();
});
