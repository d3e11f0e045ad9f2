import { expect, test } from '@jest/globals';
import { AvroFields } from '../../../app/formats/avro/avro-fields.ts';
import { AvroProgram } from '../../../app/formats/avro/avro-program.ts';
import { sentJson } from '../../../app/tables/json/json-slice.ts';
import { lastPayments, paymentChange, paymentSchema } from '../../../dev/orders/payment-records.ts';

const PARTITIONS = 3;
const RECORDS = 10_000;
const changes = Array.from({ length: RECORDS }, (_, index) => ({
  ...paymentChange(1, index, PARTITIONS),
  offset: BigInt(index),
}));

test('changes of payments name schemas that the registry has, a new one after some hundred records', () => {
  const ids = changes.flatMap(({ value, reason }) => (value === null || reason ? [] : [value.readUInt32BE(1)]));
  expect([...new Set(ids)]).toEqual(Array.from({ length: 17 }, (_, nth) => 1_000 + nth));
  expect(ids.filter((id) => paymentSchema(id) === undefined)).toEqual([]);
});

test('changes that are no payments have the reasons of their dead letters', () => {
  const broken = changes.filter(({ reason }) => reason !== undefined);
  expect(new Set(broken.map(({ reason }) => reason))).toEqual(new Set(['undecodable', 'unknown_schema']));
  const unknown = broken.filter(({ reason }) => reason === 'unknown_schema');
  expect(unknown.map(({ value }) => value && paymentSchema(value.readUInt32BE(1)))).toEqual([undefined, undefined]);
  expect(new Set(broken.map(({ value }) => value?.[0]))).toEqual(new Set([0, '{'.charCodeAt(0)]));
});

test('the last payments are JSON with the values of their Avro', () => {
  const payments = lastPayments(changes);
  const [key = '', { value: json = null } = {}] = [...payments][100] ?? [];
  const { value } = changes.findLast((change) => String(change.key) === key && change.reason === undefined) ?? {};
  const bytes = value ?? Buffer.alloc(0);
  const id = bytes.readUInt32BE(1);
  const names = ['id', 'amount', 'payer', 'state', 'shares', 'at'];
  const program = new AvroProgram(
    { id, text: JSON.stringify(paymentSchema(id)), references: [] },
    names.map((name) => [name]),
  );
  const fields = new AvroFields();
  expect(fields.read(program, bytes, 5, bytes.length)).toBeNull();
  const parsed = JSON.parse(String(json)) as Record<string, unknown>;
  const read = names.map((_, place) => {
    const slice = fields.of(place);
    return slice && JSON.parse(sentJson(slice));
  });
  expect(read).toEqual([
    parsed['id'],
    Number(parsed['amount']),
    parsed['payer'],
    parsed['state'],
    parsed['shares'],
    Date.parse(String(parsed['at'])),
  ]);
  expect(payments.size).toBeGreaterThan(1_000);
});
