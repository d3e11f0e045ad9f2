import { describe, expect, test } from '@jest/globals';
import type { WriteOutcome } from '../../../app/stream/ports/record-sink.ts';
import { aRequest } from '../store/open-store.ts';
import { openTables } from './open-tables.ts';

const MOST = 500;
const TOO_MANY = { name: 'FatalError', code: 'TOO_MANY_DEAD_LETTERS' };

const poison = (count: number): string[] => Array<string>(count).fill('{poison');
const good = (count: number): string[] => Array<string>(count).fill('{"id":1,"name":"one"}');

/** A topic whose rows are in a user table alone, and processes that write to it one after the other. */
async function ownTopic() {
  const { restarted, topic, stored, run } = await openTables({
    tables: { orders: 'id int, name text' },
    inRecords: false,
  });
  const write =
    (sink: ReturnType<typeof restarted>) =>
    async (values: readonly string[], partition = 0): Promise<WriteOutcome> => {
      const positions = await sink.positions([topic]);
      const { offset = 0n } = positions.find((position) => position.partition === partition) ?? {};
      return sink.write(aRequest(topic, offset, values, partition));
    };
  return { process: () => write(restarted()), stored, run };
}

describe('a restart does not begin anew to count where no row is in records', () => {
  test('where all is poison: what comes next stays ahead of the stored offset', async () => {
    const { process, run } = await ownTopic();
    await process()(poison(MOST));
    for (const partition of [0, 1, 0]) {
      await expect(process()(poison(1), partition)).rejects.toMatchObject(TOO_MANY);
    }
    expect(await run('SELECT count(*)::int FROM ?.dead_letters')).toEqual([{ count: MOST }]);
  });

  test('and the records since then count as the ones of this process do', async () => {
    const { process } = await ownTopic();
    await process()([...poison(400), ...good(200)]);
    await process()(good(200));
    await expect(process()(poison(101))).rejects.toMatchObject(TOO_MANY);
    await process()(poison(100));
  });

  test('and letters of long before are not counted alone', async () => {
    const { process, run } = await ownTopic();
    await process()(poison(MOST));
    await process()(good(5_000));
    await process()(poison(MOST));
    expect(await run('SELECT count(*)::int FROM ?.dead_letters')).toEqual([{ count: 2 * MOST }]);
    expect(await run('SELECT count(*)::int FROM ?.records')).toEqual([{ count: 0 }]);
  });

  test('and what other topics have counts for none', async () => {
    const { process, run } = await ownTopic();
    await process()(poison(MOST));
    await process()(good(1_000));
    await run(`INSERT INTO ?.offsets SELECT group_id, 'other', partition, next_offset FROM ?.offsets LIMIT 1`);
    await run(
      `INSERT INTO ?.dead_letters (group_id, topic, partition, "offset", timestamp, headers, value, reason, error)
       SELECT group_id, 'other', partition, "offset", timestamp, headers, value, reason, error FROM ?.dead_letters`,
    );
    await process()(poison(MOST));
    await expect(process()(poison(1))).rejects.toMatchObject(TOO_MANY);
  });

  test('and the records of the other partitions count with them', async () => {
    const { process } = await ownTopic();
    await process()(poison(MOST), 0);
    await process()(good(700), 1);
    await process()(poison(200), 0);
    await expect(process()(poison(400), 1)).rejects.toMatchObject(TOO_MANY);
  });
});
