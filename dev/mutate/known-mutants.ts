/** One changed line of the core. */
export interface KnownMutant {
  /** What the change makes of the program. */
  readonly name: string;
  readonly file: string;
  /** A piece of the file that is there once. */
  readonly original: string;
  readonly mutated: string;
}

const PARTITION_STREAM = 'app/stream/partition/partition-stream.ts';
const OPENINGS = 'app/stream/openings.ts';

/**
 * Changes that lose records, write them twice, end the process or hold it up, and that tests once did not notice. None
 * of them may survive.
 */
export const KNOWN_MUTANTS: readonly KnownMutant[] = [
  {
    name: 'a failed transaction leaves the queue as it is',
    file: PARTITION_STREAM,
    original: "ReturnType<WriteAttempts['failed']>): Promise<void> {\n    this.#queue.clear();\n",
    mutated: "ReturnType<WriteAttempts['failed']>): Promise<void> {\n",
  },
  {
    name: 'a batch that was delivered before is taken in',
    file: PARTITION_STREAM,
    original: 'nextOffset <= position',
    mutated: 'nextOffset < position',
  },
  {
    name: 'a commit does not end the row of unknown errors',
    file: PARTITION_STREAM,
    original: '    this.#attempts.succeeded();\n    this.#batchLimit',
    mutated: '    this.#batchLimit',
  },
  {
    name: 'a search goes back to its offset, wherever the transactions before it ended',
    file: PARTITION_STREAM,
    original: '    if (this.#state !== state) {\n      return;\n    }\n    if (found',
    mutated: '    if (found',
  },
  {
    name: 'positions are read, or stored, though the claim of the group was given up',
    file: OPENINGS,
    original: 'return signal.aborted ? [] : assignedPositions(',
    mutated: 'return assignedPositions(',
  },
  {
    name: 'the transactions of the stream before are not waited for',
    file: OPENINGS,
    original: '        await Promise.race([Promise.all(before), this.#ports.clock.wait(SETTLE_MS, signal)]);\n',
    mutated: '        void [before, SETTLE_MS];\n',
  },
  {
    name: 'a partition that was taken away goes on writing its queue',
    file: PARTITION_STREAM,
    original: 'this.#end();\n    this.#queue.clear();\n    await',
    mutated: 'this.#end();\n    await',
  },
  {
    name: 'a queue that is still full is filled further',
    file: PARTITION_STREAM,
    original: 'this.#queueShare / 2',
    mutated: 'this.#queueShare * 2',
  },
  {
    name: 'a batch that begins above the position is taken in',
    file: PARTITION_STREAM,
    original: 'fetchedOffset > position || ',
    mutated: '',
  },
  {
    name: 'a batch that begins below the position is not cropped',
    file: PARTITION_STREAM,
    original: 'const records = fetched.records.behind(position);',
    mutated: 'const records = fetched.records;',
  },
  {
    name: 'a fenced writer goes on without reading the stored offset',
    file: PARTITION_STREAM,
    original: 'return this.#recover(firstOffset, consequence);',
    mutated: 'return consequence.outage ? this.#recover(firstOffset, consequence) : undefined;',
  },
  {
    name: 'draining goes on taking batches in',
    file: PARTITION_STREAM,
    original: 'this.#end();\n    this.#ports.source.pause(this.partition);',
    mutated: 'this.#ending.abort();\n    this.#ports.source.pause(this.partition);',
  },
];
