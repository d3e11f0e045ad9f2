import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { LogLines, readLines } from '../../../dev/run/log-lines.ts';

describe('log lines', () => {
  test('are found when they are there already', async () => {
    const logs = new LogLines();
    logs.add('first');
    expect(await logs.waitFor(/fir/)).toBe('first');
  });

  test('are waited for when they are not', async () => {
    const logs = new LogLines();
    const waiting = logs.waitFor(/second/);
    logs.add('first');
    logs.add('second');
    expect(await waiting).toBe('second');
  });

  test('are missed with the last lines in the message', async () => {
    const logs = new LogLines();
    logs.add('another');
    await expect(logs.waitFor(/never/, 10)).rejects.toThrow(/no line matched \/never\/ within 10 ms.*\n {4}another/);
  });

  test('keep no process running while one of them is waited for', () => {
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const before = timers();
    new LogLines().waitFor(/never/, 60_000).catch(() => undefined);
    expect(timers()).toBe(before);
  });

  test('are given to followers, earlier ones first', () => {
    const logs = new LogLines();
    const seen: string[] = [];
    logs.add('a');
    logs.follow((line) => seen.push(line));
    logs.add('b');
    expect(seen).toEqual(['a', 'b']);
  });
});

describe('reading lines', () => {
  test('joins what arrives in pieces, within a character too', async () => {
    const stream = new PassThrough();
    const lines: string[] = [];
    readLines(stream, (line) => lines.push(line));
    const [head, tail] = [
      Buffer.from('gr\u00fcn\r\nrest').subarray(0, 3),
      Buffer.from('gr\u00fcn\r\nrest').subarray(3),
    ];
    stream.write(head);
    stream.end(tail);
    await new Promise((resolve) => stream.once('close', resolve));
    expect(lines).toEqual(['gr\u00fcn', 'rest']);
  });
});
