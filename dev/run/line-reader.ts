import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Calls `onLine` for each line of a stream, the last one too when no line break ends it. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split(/\r?\n/);
    rest = lines.pop() ?? '';
    lines.forEach(onLine);
  });
  stream.on('end', () => {
    if (rest !== '') {
      onLine(rest);
    }
  });
}
