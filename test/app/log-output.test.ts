import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { LogOutput } from '../../app/logging/logger.ts';

const LINE = `${'x'.repeat(1_023)}\n`;

test('while a reader does not read, a megabyte of lines waits for it, and what comes then is dropped and counted until it reads', () => {
  const taken: (() => void)[] = [];
  let received = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      received += chunk;
      taken.push(done);
    },
  });
  let dropped = 0;
  const output = new LogOutput(stream, () => {
    dropped += 1;
  });
  for (let line = 0; line < 2_000; line += 1) {
    output.write(LINE);
  }
  expect(dropped).toBe(2_000 - 1_024);
  for (let done = taken.shift(); done; done = taken.shift()) {
    done();
  }
  expect(received.length).toBe(1_024 * LINE.length);
  output.write('the reader is back\n');
  expect(received).toMatch(/the reader is back\n$/);
});
