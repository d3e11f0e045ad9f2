import { expect, test } from '@jest/globals';
import { SourceLog } from '../../../app/kafka/source-log.ts';

const unused = () => undefined;

test("a log's end that is not known is told once for each topic, and so is that it is known again", async () => {
  const lines: object[] = [];
  const log = new SourceLog({
    ...{ trace: unused, debug: unused, error: unused, fatal: unused },
    warn: (fields) => lines.push({ warn: fields }),
    info: (fields) => lines.push({ info: fields }),
  });
  const fail = (topic: string, reason: string) => log.logEnds(topic, Promise.reject(new Error(reason)), new Map());
  await expect(fail('orders', 'timed out')).rejects.toThrow('timed out');
  await expect(fail('orders', 'reset')).rejects.toThrow('reset');
  await expect(fail('payments', 'reset')).rejects.toThrow('reset');
  const ends = [{ topic: 'orders', partition: 0, start: 0n, end: 7n }];
  expect(await log.logEnds('orders', Promise.resolve(ends), new Map())).toBe(ends);
  expect(await log.logEnds('orders', Promise.resolve(ends), new Map())).toBe(ends);
  expect(lines).toEqual([
    { warn: { topic: 'orders', reason: 'timed out' } },
    { warn: { topic: 'payments', reason: 'reset' } },
    { info: { topic: 'orders' } },
  ]);
});

test('the owned partitions without a leader are told once, and once for how long when they have one again', async () => {
  const lines: (readonly [fields: object, message: string])[] = [];
  const tell = (fields: object | string, message = '') => void lines.push([Object(fields), message]);
  let seconds = 0;
  const log = new SourceLog(
    { trace: unused, debug: unused, error: unused, fatal: unused, warn: tell, info: tell },
    () => seconds * 1_000,
  );
  const owned = new Map([0, 1, 2].map((partition) => [`orders/${partition}`, { topic: 'orders', partition }]));
  const look = (...leaderless: readonly number[]) => {
    const ends = [0, 1, 2, 3].map((partition) => {
      const place = { topic: 'orders', partition };
      return leaderless.includes(partition)
        ? { ...place, isLeaderless: true as const }
        : { ...place, start: 0n, end: 7n };
    });
    return log.logEnds('orders', Promise.resolve(ends), owned);
  };
  await look();
  await look(1, 2, 3);
  seconds = 10;
  await look(1, 2, 3);
  seconds = 40;
  await look(2);
  seconds = 50;
  await look();
  await look();
  expect(lines).toEqual([
    [{ topic: 'orders', partitions: [1, 2] }, expect.stringContaining('have no leader')],
    [{ topic: 'orders', partitions: [1], seconds: 40 }, expect.stringContaining('again after 40 s')],
    [{ topic: 'orders', partitions: [2], seconds: 50 }, expect.stringContaining('again after 50 s')],
  ]);
});
