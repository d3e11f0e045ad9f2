import { beforeEach, expect, test } from '@jest/globals';
import type { Logger } from '../../../app/logging/logger.ts';
import { OutageLog, watchedCheck } from '../../../app/logging/outage-log.ts';

let seconds: number;
let lines: string[];
let outages: OutageLog;

beforeEach(() => {
  seconds = 0;
  lines = [];
  const write = (level: string) => (fields: object, message: string) =>
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const logger = { warn: write('warn'), info: write('info') } as unknown as Logger;
  outages = new OutageLog('PostgreSQL', logger, { now: () => seconds * 1_000 });
});

const AWAY = 'warn PostgreSQL is away, trying again until it is back';

test('an outage is a line when it begins, one when its reason changes, and one when it is over', () => {
  const check = outages.of('health check');
  for (; seconds < 60; seconds += 2) check.failed('refused');
  for (; seconds < 95; seconds += 5) check.failed('starting up');
  check.worked();
  check.worked();
  expect(lines).toEqual([
    `${AWAY} {"reason":"refused","failures":1}`,
    `${AWAY} {"reason":"starting up","failures":31}`,
    'info PostgreSQL is back after 95 s, 37 failures {"seconds":95,"failures":37}',
  ]);
});

test('an outage that goes on is told every five minutes; reasons that take turns are told once a minute each', () => {
  const check = outages.of('health check');
  for (; seconds <= 600; seconds += 2) check.failed('refused');
  expect(lines).toHaveLength(3);
  lines.length = 0;
  for (const last = seconds + 60; seconds < last; seconds += 2) check.failed(seconds % 4 === 0 ? 'silent' : 'closed');
  expect(lines).toHaveLength(2);
});

test('it is back when all that failed work, but one that tries no more is not waited for', () => {
  const [check, writers] = [outages.of('health check'), outages.of('writers')];
  check.failed('refused');
  writers.failed('refused');
  check.worked();
  expect(lines).toHaveLength(1);
  writers.worked();
  expect(lines.at(-1)).toContain('is back after 0 s, 2 failures');
  writers.failed('too many clients');
  seconds = 59;
  check.worked();
  expect(lines).toHaveLength(3);
  seconds = 61;
  check.worked();
  expect(lines.at(-1)).toContain('is back after 61 s, 1 failure ');
});

test('what fails while the process closes its own connections is no outage', () => {
  const closing = new AbortController();
  const onFailure = () => lines.push('counted');
  const logger = { warn: (_fields: object, message: string) => lines.push(message) } as unknown as Logger;
  const check = new OutageLog('Kafka', logger, { closing: closing.signal, onFailure }).of('consumer');
  check.failed('refused');
  expect(lines).toEqual(['counted', 'Kafka is away, trying again until it is back']);
  closing.abort();
  check.failed('write after end');
  expect(lines).toHaveLength(2);
});

test('a check without an answer fails when its time is over, and one that the end of the process cuts off does not', async () => {
  const check = watchedCheck(
    (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('given up')))),
    outages.of('health check'),
    String,
  );
  const cutOff = new AbortController();
  const asked = check(cutOff.signal);
  cutOff.abort();
  await expect(asked).rejects.toThrow('given up');
  expect(lines).toEqual([]);
  const tooLong = new AbortController();
  const askedAgain = check(tooLong.signal);
  tooLong.abort(new DOMException('no answer within 3000 ms', 'TimeoutError'));
  await expect(askedAgain).rejects.toThrow('given up');
  expect(lines).toEqual([`${AWAY} {"reason":"no answer within 3000 ms","failures":1}`]);
});
