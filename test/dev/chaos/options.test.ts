import { describe, expect, test } from '@jest/globals';
import { CHAOS_HELP, readChaosOptions } from '../../../dev/chaos/options.ts';

describe('the options of the chaos run', () => {
  test('default to two minutes and a seed of their own', () => {
    const options = { minutes: 2, seed: 99, groupProtocol: 'classic' };
    expect(readChaosOptions([], () => 99)).toEqual({ kind: 'options', options });
  });

  test('draw a new seed for each run that names none', () => {
    expect(readChaosOptions([])).not.toEqual(readChaosOptions([]));
  });

  test('take what is given', () => {
    const options = { minutes: 0.5, seed: 7, groupProtocol: 'consumer' };
    expect(readChaosOptions(['--minutes', '0.5', '--seed=7', '--group-protocol', 'consumer'])).toEqual({
      kind: 'options',
      options,
    });
  });

  test('show the help wherever it is asked for', () => {
    expect(readChaosOptions(['--nonsense', '-h'])).toEqual({ kind: 'help' });
    expect(CHAOS_HELP).toContain('--group-protocol P   kafka.groupProtocol of the consumers: classic or consumer');
  });

  test('name all problems at once, with what is allowed', () => {
    expect(
      readChaosOptions(['--minute', '5', '--minutes', '0', '--seed', 'x', '--group-protocol=eager', '--seed']),
    ).toEqual({
      kind: 'problems',
      problems: [
        '--minute is not an option; the nearest one is --minutes',
        '"5" is not an option: options begin with --',
        '--minutes: "0" is not allowed; allowed is a number from 0.1 to 1440',
        '--seed: "x" is not allowed; allowed is a whole number from 0 to 4294967295',
        '--group-protocol: "eager" is not allowed; allowed is classic or consumer',
        '--seed needs a value: a whole number from 0 to 4294967295',
      ],
    });
  });
});
