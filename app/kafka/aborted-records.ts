/** What the filter looks at in a record of a fetch. */
export interface FetchedRecord {
  readonly offset: bigint;
  readonly key: Buffer | null;
  readonly isControlRecord: boolean;
  readonly batchContext: { readonly producerId: string; readonly inTransaction: boolean };
}

/** An aborted transaction of the answer to a fetch. */
interface AbortedTransaction {
  readonly producerId: string;
  readonly firstOffset: string;
}

/** What kafkajs's batch hands over. */
interface FetchedRecords<R> {
  /** In the order of their offsets. */
  readonly messages: readonly R[];
  /** In the order in which they ended; `null` or absent: there are none. */
  readonly abortedTransactions?: readonly AbortedTransaction[] | null;
}

/** Version and type of a control record, both of 16 bits: an abort (KIP-98). */
const ABORT_KEY = Buffer.from([0, 0, 0, 0]);

const endsAborted = ({ isControlRecord, key }: FetchedRecord): boolean =>
  isControlRecord && key?.equals(ABORT_KEY) === true;

/**
 * The records that are in no aborted transaction.
 *
 * As in Kafka's own client, a transaction begins at its first offset, whatever other one it lies in, and ends at the abort
 * marker of its producer. As shipped kafkajs takes brokers to list transactions by their first offsets, enters one of them
 * a record, and takes a record with the key of an abort marker for one: aborted records came through.
 */
export function withoutAborted<R extends FetchedRecord>({ messages, abortedTransactions }: FetchedRecords<R>): R[] {
  const ahead = (abortedTransactions ?? [])
    .map(({ producerId, firstOffset }) => ({ producerId, first: BigInt(firstOffset) }))
    .sort((a, b) => Number(b.first - a.first));
  const aborted = new Set<string>();
  return messages.filter((record) => {
    for (let next = ahead.at(-1); next !== undefined && next.first <= record.offset; next = ahead.at(-1)) {
      aborted.add(next.producerId);
      ahead.pop();
    }
    const { producerId, inTransaction } = record.batchContext;
    if (endsAborted(record)) {
      aborted.delete(producerId);
      return true;
    }
    return !(inTransaction && aborted.has(producerId));
  });
}
