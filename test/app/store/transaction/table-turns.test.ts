import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { TableTurns } from '../../../../app/store/transaction/table-turns.ts';
import { FatalError, OutageError } from '../../../../app/stream/ports/stream-errors.ts';

const HELD_UP = new OutageError('locked', { isLockWait: true, table: 'shop.orders' });

/** Writes into tables that end when the test says so. */
class Writes {
  readonly #turns = new TableTurns();
  readonly under: { readonly name: string; readonly isPatient: boolean; readonly end: (error?: Error) => void }[] = [];
  readonly ended: string[] = [];

  begin(name: string, ...tables: readonly string[]): void {
    const writing = this.#turns.write(
      () => tables,
      (isPatient) =>
        new Promise<void>((resolve, reject) => {
          this.under.push({ name, isPatient, end: (error) => (error ? reject(error) : resolve()) });
        }),
    );
    writing.then(
      () => this.ended.push(name),
      (error: Error) => this.ended.push(`${name}: ${error.message}`),
    );
  }

  /** Ends all that are under way. */
  async end(error?: Error): Promise<void> {
    for (const { end } of this.under.splice(0)) {
      end(error);
    }
    await turn();
  }

  isHeldUp(...tables: readonly string[]): boolean {
    return this.#turns.isHeldUp(() => tables);
  }

  get names() {
    return this.under.map(({ name, isPatient }) => (isPatient ? `${name} patiently` : name));
  }
}

/** Three writes that met the lock of a table at the same time, and one of another table. */
async function locked() {
  const writes = new Writes();
  for (const name of ['a', 'b', 'c']) {
    writes.begin(name, 'shop.orders', 'shop.totals');
  }
  expect(writes.names).toEqual(['a', 'b', 'c']);
  await writes.end(HELD_UP);
  return writes;
}

test('of the writes that a table holds up, one at a time waits for it, and is patient', async () => {
  const writes = await locked();
  expect(writes.names).toEqual(['a patiently']);
  expect([writes.isHeldUp('shop.orders'), writes.isHeldUp('shop.totals')]).toEqual([true, false]);
});

test('a write into other tables waits for nothing', async () => {
  const writes = await locked();
  writes.begin('other', 'shop.totals');
  expect(writes.names).toEqual(['a patiently', 'other']);
});

test('when the one that waits is done, all others go on at once', async () => {
  const writes = await locked();
  await writes.end();
  expect([writes.ended, writes.names]).toEqual([['a'], ['b', 'c']]);
  await writes.end();
  expect([writes.ended, writes.isHeldUp('shop.orders')]).toEqual([['a', 'b', 'c'], false]);
});

test('when it gives up, all end with its outage, and the next one waits patiently', async () => {
  const writes = await locked();
  await writes.end(HELD_UP);
  expect(writes.ended).toEqual(['a: locked', 'b: locked', 'c: locked']);
  writes.begin('d', 'shop.orders');
  writes.begin('e', 'shop.orders');
  expect(writes.names).toEqual(['d patiently']);
});

test('when it fails otherwise, the next one takes its place', async () => {
  const writes = await locked();
  await writes.end(new FatalError('TABLES_DO_NOT_FIT', 'dropped'));
  expect([writes.ended, writes.names]).toEqual([['a: dropped'], ['b patiently']]);
});

test('an outage that is of no table is that of its write alone', async () => {
  const writes = new Writes();
  writes.begin('a', 'shop.orders');
  await writes.end(new OutageError('the offset is held', { isLockWait: true }));
  expect([writes.ended, writes.isHeldUp('shop.orders')]).toEqual([['a: the offset is held'], false]);
});
