import { expect, test } from '@jest/globals';
import { commandLine } from '../../synthesis/command-line.ts';

test.each<[string[], object]>([
  [[], { command: 'synth', allowRecreate: false }],
  [['--env', 'prod'], { command: 'synth', allowRecreate: false, only: ['prod'] }],
  [['--env=a', '--env=b', '--env=a'], { command: 'synth', allowRecreate: false, only: ['a', 'b'] }],
  [['--allow-recreate'], { command: 'synth', allowRecreate: true }],
  [['diff'], { command: 'diff', allowRecreate: false }],
  [['diff', '--env', 'prod'], { command: 'diff', allowRecreate: false, only: ['prod'] }],
])('%j is understood', (args, expected) => {
  expect(commandLine(args)).toEqual(expected);
});

test.each([
  [['--environment', 'x'], "Unknown option '--environment'"],
  [['--hunter2hunter2', 'x'], "Unknown option '******'"],
  [['hunter2hunter2'], "Unexpected argument '******'"],
  [['--env'], 'argument missing'],
  [['diff', '--allow-recreate'], "Unknown option '--allow-recreate'"],
  [['prod'], 'Unexpected argument'],
])('%j is refused', (args, message) => {
  expect(() => commandLine(args)).toThrow(message);
});

test.each([['--help'], ['-h'], ['diff', '--help'], ['diff', '-h']])(
  '%s %s explains the command and its exit codes',
  (...args) => {
    const { help } = commandLine(args.filter((arg) => arg !== undefined));
    expect(help).toContain(`npm run ${args[0] === 'diff' ? 'diff' : 'synth'} `);
    expect(help).toContain('--env NAME');
    expect(help).toContain('Exit code');
  },
);
