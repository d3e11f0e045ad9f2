import { configure, type Decision } from '../../../app/commands/configure.ts';
import { folderWith } from '../configuration/folder.ts';

/** A folder with settings that are right, and with a file of wrong ones. */
export const CWD = folderWith({
  'application.yml':
    'kafka: { brokers: [b:1], topics: [t], groupId: g }\ndatabase: { url: "postgresql://u:hunter2@h/d" }',
  'wrong.yml':
    'kafka: { brokers: [b:1], topics: [t], groupId: g }\ndatabase: { password: [hunter2] }\nserver: { prt: 1 }',
});

/** How the process ends without having started anything. */
export function exitOf(decision: Decision) {
  if (decision.kind !== 'exit') {
    throw new Error('the decision is to run');
  }
  return { stdout: '', stderr: '', ...decision };
}

/** How it ends with such a command line in that folder. */
export const exit = (argv: readonly string[], env = {}) => exitOf(configure(argv, env, CWD));
