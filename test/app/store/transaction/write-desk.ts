import { setImmediate as turn } from 'node:timers/promises';
import { recordsOf } from '../../../../app/records/pack-records.ts';
import { GroupedWrites } from '../../../../app/store/transaction/grouped-writes.ts';
import type { WriteOutcome, WriteRequest } from '../../../../app/stream/ports/record-sink.ts';
import { aRecord } from '../../stream/records.ts';

export const COMMITTED: WriteOutcome = { kind: 'committed', deadLetters: new Map(), rows: new Map() };
export const FENCED: WriteOutcome = { kind: 'fenced' };

/** The topic whose records go to `shop.orders`. */
export const HELD_UP = 'shop.public.orders';

/** The topic whose records go to the tables of `orders.1` and `orders.2`. */
export const BOTH = 'orders.both';

const TABLES: Readonly<Record<string, readonly string[]>> = {
  [HELD_UP]: ['shop.orders'],
  [BOTH]: ['orders.1', 'orders.2'],
};

export const aRequest = (partition: number, records = 1, valueBytes = 10): WriteRequest => ({
  topic: 'orders',
  partition,
  expectedOffset: 0n,
  nextOffset: BigInt(records),
  records: recordsOf(
    Array.from({ length: records }, (_, nth) => aRecord(BigInt(nth), { key: null, value: Buffer.alloc(valueBytes) })),
  ),
});

type Answer = (outcome: readonly WriteOutcome[] | null | Error) => void;

/** Long enough for all groups that may be written: they begin one in a turn. */
export async function turns(): Promise<void> {
  for (let count = 0; count < 10; count += 1) {
    await turn();
  }
}

/** Writers that write down what they are given; groups are answered by hand. */
export class Desk {
  readonly alone: number[] = [];
  readonly groups: { readonly partitions: readonly number[]; readonly answer: Answer }[] = [];
  readonly writes: GroupedWrites;
  outcomeAlone: WriteOutcome = FENCED;
  isOneTable = false;

  constructor(limits: { maxBatchRecords?: number; poolSize?: number } = {}) {
    this.writes = new GroupedWrites(
      {
        alone: async ({ partition }) => {
          this.alone.push(partition);
          return this.outcomeAlone;
        },
        together: (requests) =>
          new Promise((resolve, reject) => {
            const answer: Answer = (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome));
            this.groups.push({ partitions: requests.map(({ partition }) => partition), answer });
          }),
        isOneTable: () => this.isOneTable,
        tablesOf: (topic) => TABLES[topic] ?? [topic],
      },
      { maxBatchRecords: 5_000, poolSize: 1, ...limits },
    );
  }

  /** Hands requests on, all in one turn of the event loop. */
  async write(...requests: readonly WriteRequest[]) {
    const outcomes = requests.map((request) => this.writes.write(request).catch((error: Error) => error));
    await turns();
    return outcomes;
  }

  /** Resolves when so many groups have begun. */
  async until(groups: number): Promise<void> {
    while (this.groups.length < groups) {
      await turn();
    }
  }

  get partitions() {
    return this.groups.map(({ partitions }) => partitions);
  }
}
