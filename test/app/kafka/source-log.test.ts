import { expect, test } from '@jest/globals';
import { SourceLog } from '../../../app/kafka/source-log.ts';

const unused = () => undefined;

test("a log's end that is not known is told once for each topic, and so is that it is known again", async () => {
  const lines: object[] = [];
  const log = new SourceLog(
    {
      ...{ trace: unused, debug: unused, error: unused, fatal: unused },
      warn: (fields) => lines.push({ warn: fields }),
      info: (fields) => lines.push({ info: fields }),
    },
    () => false,
  );
  const fail = (topic: string, reason: string) => log.logEnds(topic, Promise.reject(new Error(reason)));
  await expect(fail('orders', 'timed out')).rejects.toThrow('timed out');
  await expect(fail('orders', 'reset')).rejects.toThrow('reset');
  await expect(fail('payments', 'reset')).rejects.toThrow('reset');
  const ends = [{ topic: 'orders', partition: 0, start: 0n, end: 7n }];
  expect(await log.logEnds('orders', Promise.resolve(ends))).toBe(ends);
  expect(await log.logEnds('orders', Promise.resolve(ends))).toBe(ends);
  expect(lines).toEqual([
    { warn: { topic: 'orders', reason: 'timed out' } },
    { warn: { topic: 'payments', reason: 'reset' } },
    { info: { topic: 'orders' } },
  ]);
});

/** A log of which the lines are kept, at a second that can be set, and a look at the log ends of four partitions. */
function leaderLog() {
  const lines: (readonly [fields: object, message: string])[] = [];
  const tell = (fields: object | string, message = '') => void lines.push([Object(fields), message]);
  const time = { seconds: 0 };
  const log = new SourceLog(
    { trace: unused, debug: unused, error: unused, fatal: unused, warn: tell, info: tell },
    () => false,
    () => time.seconds * 1_000,
  );
  const assign = (...partitions: readonly number[]) =>
    log.assigned(new Map(partitions.map((partition) => [`orders/${partition}`, { topic: 'orders', partition }])));
  const look = (...leaderless: readonly number[]) => {
    const ends = [0, 1, 2, 3].map((partition) => {
      const place = { topic: 'orders', partition };
      return leaderless.includes(partition)
        ? { ...place, isLeaderless: true as const }
        : { ...place, start: 0n, end: 7n };
    });
    return log.logEnds('orders', Promise.resolve(ends));
  };
  return { lines, time, assign, look };
}

test('the owned partitions without a leader are told once, and once for how long when they have one again', async () => {
  const { lines, time, assign, look } = leaderLog();
  assign(0, 1, 2);
  await look();
  await look(1, 2, 3);
  time.seconds = 10;
  await look(1, 2, 3);
  time.seconds = 40;
  await look(2);
  time.seconds = 50;
  await look();
  await look();
  expect(lines).toEqual([
    [{ topic: 'orders', partitions: [1, 2] }, expect.stringContaining('have no leader')],
    [{ topic: 'orders', partitions: [1], seconds: 40 }, expect.stringContaining('again after 40 s')],
    [{ topic: 'orders', partitions: [2], seconds: 50 }, expect.stringContaining('again after 50 s')],
  ]);
});

test('a partition without a leader that moved to another Pod is told there when it has one again, not here', async () => {
  const { lines, time, assign, look } = leaderLog();
  assign(0, 1, 2);
  await look(1, 2);
  const late = look(1, 2);
  assign(0, 2);
  await late;
  time.seconds = 30;
  await look();
  assign(0, 1, 2);
  await look();
  expect(lines).toEqual([
    [{ topic: 'orders', partitions: [1, 2] }, expect.stringContaining('have no leader')],
    [{ topic: 'orders', partitions: [2], seconds: 30 }, expect.stringContaining('again after 30 s')],
  ]);
});
