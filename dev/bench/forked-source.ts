import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Starts a source file of this folder as another process, which gets messages and ends with this process. */
export const forkSource = (name: string, args: readonly string[] = []): ChildProcess =>
  fork(join(import.meta.dirname, name), [...args], { execArgv: ['--import', 'tsx'], serialization: 'advanced' });

/** The next message of a process. @throws Error when it ends without one */
export async function message<Message>(process: ChildProcess): Promise<Message> {
  const ended = once(process, 'exit').then(([code]) => {
    throw new Error(`a process of the benchmark ended with exit code ${code}`);
  });
  const [received] = (await Promise.race([once(process, 'message'), ended])) as [Message];
  return received;
}
