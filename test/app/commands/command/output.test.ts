import { PassThrough, Writable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { Output } from '../../../../app/commands/command/output.ts';

function setUp(isTTY: boolean) {
  let now = 0;
  const written: string[] = [];
  const stream = (name: string) =>
    new Writable({
      write(chunk, _encoding, done) {
        written.push(`${name} ${String(chunk)}`);
        done();
      },
    });
  const streams = { out: stream('out'), err: Object.assign(stream('err'), { isTTY }) };
  const output = new Output(streams, { steady: () => new Date(now) });
  const progressAt = (time: number, text: string) => {
    now = time;
    output.progress(() => text);
  };
  return { output, written, progressAt };
}

describe('progress', () => {
  test('on a terminal is rewritten in place, not more than ten times a second, and makes room for lines', async () => {
    const { output, written, progressAt } = setUp(true);
    progressAt(50, 'too early');
    progressAt(100, 'one');
    progressAt(150, 'too early');
    progressAt(200, 'two');
    await output.lines(['a line']);
    const clear = '\r\u001b[2K';
    expect(written).toEqual([`err ${clear}one`, `err ${clear}two`, `err ${clear}`, 'out a line\n']);
  });

  test('in a log is a line every ten seconds', async () => {
    const { output, written, progressAt } = setUp(false);
    progressAt(9_999, 'too early');
    progressAt(10_000, 'one');
    await output.lines(['a line']);
    expect(written).toEqual(['err one\n', 'out a line\n']);
  });
});

describe('lines', () => {
  test('wait until their reader has room for more', async () => {
    const out = new PassThrough({ highWaterMark: 1 });
    const output = new Output({ out, err: new PassThrough() }, { steady: () => new Date(0) });
    let isWritten = false;
    const writing = output.lines(['more than fits']).then(() => {
      isWritten = true;
    });
    await new Promise(setImmediate);
    expect(isWritten).toBe(false);
    out.resume();
    await writing;
  });

  test('do not wait for a reader that went away', async () => {
    const out = new PassThrough({ highWaterMark: 1 });
    out.on('error', () => undefined);
    const output = new Output({ out, err: new PassThrough() }, { steady: () => new Date(0) });
    const writing = output.lines(['more than fits']);
    out.destroy(new Error('EPIPE'));
    await writing;
  });
});
