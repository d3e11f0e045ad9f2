/** Takes a record set from a socket again and again, as an answer to a fetch comes, and reads it. */
import { connect } from 'node:net';
import { RecordSetReader } from '../../../app/kafka/fetch/record-set.ts';
import { MemoryBudget } from '../../../app/memory/memory-budget.ts';
import { Records } from '../../../app/records/records.ts';

/** Sets that are read first: V8 optimizes in these. */
const WARM_UP_SETS = 100;
const SETS = 300;

/** Prints the microseconds of processor time that a record takes: the median, and the least. */
async function measure(port: number, records: number, bytes: number): Promise<void> {
  const memory = new MemoryBudget();
  const reader = new RecordSetReader(memory);
  const answer = Buffer.allocUnsafeSlow(bytes);
  const times: number[] = [];
  let come = 0;
  let before = process.cpuUsage();
  for await (const piece of connect(port, '127.0.0.1') as AsyncIterable<Buffer>) {
    for (let taken = 0; taken < piece.length; ) {
      const copied = piece.copy(answer, come, taken);
      come += copied;
      taken += copied;
      if (come === bytes) {
        await read(reader, answer, memory, records);
        const { user, system } = process.cpuUsage(before);
        times.push((user + system) / records);
        come = 0;
        before = process.cpuUsage();
      }
    }
    if (times.length >= WARM_UP_SETS + SETS) {
      break;
    }
  }
  const sorted = times.slice(WARM_UP_SETS).sort((a, b) => a - b);
  process.stdout.write(JSON.stringify({ median: sorted[sorted.length >> 1], least: sorted[0] }));
}

async function read(reader: RecordSetReader, answer: Buffer, memory: MemoryBudget, records: number): Promise<void> {
  const { batches } = await reader.read(answer, {});
  const parts = batches.flatMap((batch) => batch.records.parts);
  if (new Records(parts).length !== records) {
    throw new Error('the record set was not read as a whole');
  }
  for (const { batch } of parts) {
    memory.sets.giveBack(batch.bytes);
  }
}

const [port, records, bytes] = process.argv.slice(2).map(Number);
await measure(port ?? 0, records ?? 0, bytes ?? 0);
