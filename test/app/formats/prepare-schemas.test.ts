import { expect, test } from '@jest/globals';
import { schemasFirst } from '../../../app/formats/prepare-schemas.ts';
import type { RegisteredSchema, Schemas } from '../../../app/formats/registry/schemas.ts';
import { recordsOf } from '../../../app/records/pack-records.ts';
import { aRecord } from '../stream/records.ts';

const KNOWN: RegisteredSchema = { id: 1, type: 'AVRO', text: '"string"', references: [] };
const FORMATS = { formats: { payments: 'registry', events: { key: 'registry', value: 'registry' } } } as const;

/** Asks for what is missing, which never comes. */
function asking() {
  const asked: number[][] = [];
  const schemas: Schemas = {
    of: (id) => (id === KNOWN.id ? KNOWN : id === 9 ? { id, reason: 'unknown_schema', words: 'none' } : undefined),
    fetch: (ids) => {
      asked.push([...ids]);
      return new Promise(() => undefined);
    },
  };
  return { asked, prepare: schemasFirst(schemas, FORMATS) };
}

const behind = (id: number): Buffer => Buffer.from([0, 0, 0, 0, id, 2, 0x61]);

const request = (topic: string, ...given: readonly (readonly [key: Buffer | null, value: Buffer | null])[]) => ({
  topic,
  records: recordsOf(given.map(([key, value], nth) => aRecord(BigInt(nth), { key, value }))),
});

test('ids that are not known, or have no schema, are asked for, all of a batch at once', () => {
  const { asked, prepare } = asking();
  const values = [1, 2, 2, 1, 3, 2, 9].map((id) => [null, behind(id)] as const);
  const signal = new AbortController().signal;
  expect(prepare(request('payments', ...values, [null, null], [null, Buffer.from('{}')]), signal)).toBeInstanceOf(
    Promise,
  );
  expect(asked).toEqual([[2, 3, 9]]);
});

test('keys are looked at where their format says so, and no topic without the format is', () => {
  const { asked, prepare } = asking();
  const { signal } = new AbortController();
  expect(prepare(request('payments', [behind(4), behind(1)]), signal)).toBeUndefined();
  expect(prepare(request('orders', [behind(4), behind(5)]), signal)).toBeUndefined();
  void prepare(request('events', [behind(4), behind(1)]), signal);
  expect(asked).toEqual([[4]]);
});

test('who gives up does not wait for the answer', async () => {
  const { prepare } = asking();
  const giveUp = new AbortController();
  const waiting = prepare(request('payments', [null, behind(2)]), giveUp.signal);
  giveUp.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'OutageError', reason: 'registry_away' });
  await expect(prepare(request('payments', [null, behind(2)]), giveUp.signal)).rejects.toMatchObject({
    reason: 'registry_away',
  });
});
