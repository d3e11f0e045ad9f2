import { afterAll } from '@jest/globals';
import { RunFolder } from '../../../dev/run/run-folder.ts';
import { sharedRunFolder } from './shared-stack.ts';

let current: Promise<RunFolder> | undefined;

/** Holds the processes and files of this test file; after its last test they are ended and removed. */
export function testRun(): Promise<RunFolder> {
  current ??= RunFolder.create(sharedRunFolder());
  return current;
}

afterAll(async () => {
  await (await current)?.close();
});
