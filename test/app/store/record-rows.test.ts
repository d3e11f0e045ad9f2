import { expect, test } from '@jest/globals';
import { RecordRows } from '../../../app/store/record-rows.ts';
import { aRecord } from '../stream/records.ts';

const records = [0n, 1n, 2n, 3n].map((offset) =>
  aRecord(offset, { value: Buffer.from(`"${'x'.repeat(Number(offset))}"`) }),
);

test('any part can be taken, and the parts make the whole', () => {
  const rows = new RecordRows('orders', 7, records);
  expect(rows.length).toBe(4);
  expect(Buffer.concat([rows.part(0, 1), rows.part(1, 3), rows.part(3, 4)])).toEqual(rows.part(0, 4));
  expect(rows.part(2, 2)).toHaveLength(0);
});

test('a part is what its records alone would be', () => {
  const rows = new RecordRows('orders', 7, records);
  expect(rows.part(1, 3)).toEqual(new RecordRows('orders', 7, records.slice(1, 3)).part(0, 2));
});
