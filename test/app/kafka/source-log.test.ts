import { expect, test } from '@jest/globals';
import { SourceLog } from '../../../app/kafka/source-log.ts';

test("a log's end that is not known is told once for each topic, and so is that it is known again", async () => {
  const lines: object[] = [];
  const unused = () => undefined;
  const log = new SourceLog({
    ...{ trace: unused, debug: unused, error: unused, fatal: unused },
    warn: (fields) => lines.push({ warn: fields }),
    info: (fields) => lines.push({ info: fields }),
  });
  const fail = (topic: string, reason: string) => log.logEnds(topic, Promise.reject(new Error(reason)));
  await expect(fail('orders', 'timed out')).rejects.toThrow('timed out');
  await expect(fail('orders', 'reset')).rejects.toThrow('reset');
  await expect(fail('payments', 'reset')).rejects.toThrow('reset');
  expect(await log.logEnds('orders', Promise.resolve('ends'))).toBe('ends');
  expect(await log.logEnds('orders', Promise.resolve('ends'))).toBe('ends');
  expect(lines).toEqual([
    { warn: { topic: 'orders', reason: 'timed out' } },
    { warn: { topic: 'payments', reason: 'reset' } },
    { info: { topic: 'orders' } },
  ]);
});
