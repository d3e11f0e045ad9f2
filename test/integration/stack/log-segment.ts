import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sharedRunFolder } from './shared-stack.ts';

/** The file of a partition's first records. */
export const SEGMENT = '00000000000000000000.log';

/** The file in which the shared Kafka keeps partition 0 of the topic. */
export async function sharedSegmentOf(topic: string): Promise<string> {
  const [kafka = ''] = (await readdir(sharedRunFolder())).filter((name) => name.startsWith('kafka-'));
  return join(sharedRunFolder(), kafka, 'data', `${topic}-0`, SEGMENT);
}

/** Flips a bit of the text's first byte in the log, while nobody writes it: a second call puts it right. */
export async function flipBit(segment: string, text: string): Promise<void> {
  const file = await open(segment, 'r+');
  try {
    const bytes = await file.readFile();
    const at = bytes.indexOf(text.slice(1)) - 1;
    await file.write(Buffer.from([(bytes[at] ?? 0) ^ 1]), 0, 1, at);
  } finally {
    await file.close();
  }
}
