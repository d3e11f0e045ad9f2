import { describe, expect, test } from '@jest/globals';
import { readOptions, START_HELP } from '../../../dev/start/options.ts';

const problemsOf = (...args: readonly string[]): readonly string[] => {
  const read = readOptions(args);
  return read.kind === 'problems' ? read.problems : [];
};

describe('the options of npm start', () => {
  test('have defaults for a run without end', () => {
    expect(readOptions([])).toMatchObject({
      kind: 'options',
      options: { once: false, records: undefined, rate: 500, kafka: undefined, partitions: 6, seed: 1 },
    });
  });

  test('have other defaults with --once: a fixed number as fast as possible', () => {
    expect(readOptions(['--once'])).toMatchObject({ options: { once: true, records: 100_000, rate: undefined } });
  });

  test('have no tables unless they are asked for', () => {
    expect(readOptions([])).toMatchObject({ options: { tables: false } });
    expect(readOptions(['--tables', '--once'])).toMatchObject({ options: { tables: true, once: true } });
    expect(START_HELP).toContain('npm start -- --tables');
  });

  test('have no replica unless it is asked for', () => {
    expect(readOptions([])).toMatchObject({ options: { cdc: false } });
    expect(readOptions(['--cdc', '--once'])).toMatchObject({ options: { cdc: true, once: true } });
    expect(START_HELP).toContain('npm start -- --cdc');
  });

  test('take what is given', () => {
    const args = [
      '--kafka',
      'a:1,b:2',
      '--database=postgres://h/d',
      '--topic',
      't.1',
      '--schema',
      's_1',
      '--port',
      '9',
    ];
    expect(readOptions(args)).toMatchObject({
      options: { kafka: 'a:1,b:2', database: 'postgres://h/d', topic: 't.1', schema: 's_1', port: 9 },
    });
  });

  test('show the help wherever it is asked for', () => {
    expect(readOptions(['--nonsense', '-h'])).toEqual({ kind: 'help' });
    expect(START_HELP).toContain('--once');
  });

  test('name all problems at once, with what is allowed', () => {
    expect(problemsOf('--recods', '5', '--partitions', '0', '--kafka', 'nowhere', '--seed')).toEqual([
      '--recods is not an option; the nearest one is --records',
      '"5" is not an option: options begin with --',
      '--partitions: "0" is not allowed; allowed is a whole number from 1 to 1000',
      '--kafka: "nowhere" is not allowed; allowed is host:port, or several of them with commas between',
      '--seed needs a value: a whole number from 0 to 4294967295',
    ]);
  });

  test.each(['1.5', '-1', '1e3', 'ten', ''])('refuse "%s" as a number', (text) => {
    expect(problemsOf(`--records=${text}`)).toHaveLength(1);
  });

  test('refuse a value for a switch', () => {
    expect(problemsOf('--once=yes')).toEqual(['--once takes no value, but got "yes"']);
  });

  test('never repeat the URL of a database, which may hold a password', () => {
    expect(problemsOf('--database', 'mysql://u:secret@h/d').join()).toMatch(
      /^--database: what was given is not allowed/,
    );
  });
});
