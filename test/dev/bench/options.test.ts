import { describe, expect, test } from '@jest/globals';
import { BENCH_HELP, readBenchOptions } from '../../../dev/bench/options.ts';

const SCENARIOS = ['stop', 'half', 'add', 'roll', 'replace', 'kill', 'restart'];
const KNOWN = 'throughput, encoders, everyday, group, idle, partitions, scrape, start, tables';
const DEFAULTS = {
  benchmark: 'throughput',
  numbers: {},
  scenarios: SCENARIOS,
  isInPod: false,
  set: {},
  beside: undefined,
};

describe('the options of the benchmarks', () => {
  test('default to the throughput, without numbers: each benchmark has its own', () => {
    expect(readBenchOptions([])).toEqual({ kind: 'options', options: DEFAULTS });
  });

  test('take what is given', () => {
    const numbers = { records: 5, request: 2, partitions: 100, repeats: 3, rate: 500, seconds: 10 };
    const given = Object.entries(numbers).flatMap(([name, value]) => [`--${name}`, String(value)]);
    expect(readBenchOptions(['everyday', ...given, '--pod', '--set', 'A=b=c', '--set', 'D='])).toEqual({
      kind: 'options',
      options: { ...DEFAULTS, benchmark: 'everyday', numbers, isInPod: true, set: { A: 'b=c', D: '' } },
    });
  });

  test('take the members of a group, and what is done to them, in the order that is asked for', () => {
    expect(readBenchOptions(['group', '--members', '10', '--scenarios', 'roll,stop,roll'])).toEqual({
      kind: 'options',
      options: { ...DEFAULTS, benchmark: 'group', numbers: { members: 10 }, scenarios: ['roll', 'stop', 'roll'] },
    });
  });

  test('take numbers of tables, in the order that they are measured in', async () => {
    expect(readBenchOptions(['tables', '--count', '1,50,1000'])).toEqual({
      kind: 'options',
      options: { ...DEFAULTS, benchmark: 'tables', counts: [1, 50, 1_000] },
    });
  });

  test('refuse numbers of tables that are none, and where no tables are measured', () => {
    expect(readBenchOptions(['idle', '--count', '1,,1001'])).toEqual({
      kind: 'problems',
      problems: [
        '--count: "1,,1001" is not allowed; allowed are whole numbers from 1 to 1000, with commas between them.',
        '--count: idle has no number of tables; tables has.',
      ],
    });
  });

  test.each([
    [['--beside-setup', 'a.sql'], { setup: 'a.sql' }],
    [[], {}],
  ])('take another program, with a set-up or without one', (given, setup) => {
    const [command, rowsQuery] = ['prog -topic {topic} -g {group} $' + '{HOME}', 'select 1'];
    expect(readBenchOptions(['--beside', command, '--beside-rows', rowsQuery, ...given])).toEqual({
      kind: 'options',
      options: { ...DEFAULTS, beside: { command, rowsQuery, ...setup } },
    });
  });

  test('show the help wherever it is asked for', () => {
    expect(readBenchOptions(['--nonsense', '-h'])).toEqual({ kind: 'help' });
    expect(BENCH_HELP).toContain('{brokers}, {database}, {schema}, {topic}, {group}');
  });

  test('name all problems at once, with what is allowed', () => {
    const numbers = ['--records', '1e6', '--rate=0', '--seconds='];
    const group = ['--members', '1', '--members=51', '--scenarios', 'stop,start'];
    const others = ['--repeat', '3', '--pod=yes', '--set', 'A', '--beside', 'run {topic} {url}'];
    expect(readBenchOptions(['idle', 'start', ...numbers, ...group, ...others])).toEqual({
      kind: 'problems',
      problems: [
        '"start" is too much: one benchmark is measured at a time.',
        '"3" is too much: one benchmark is measured at a time.',
        '--records: "1e6" is not allowed; allowed is a whole number from 1 to 999999999.',
        '--rate: "0" is not allowed; allowed is a whole number from 1 to 999999999.',
        '--seconds needs a value.',
        '--members: "1" is not allowed; allowed is a whole number from 2 to 50.',
        '--members: "51" is not allowed; allowed is a whole number from 2 to 50.',
        '--scenarios: "stop,start" is not allowed; allowed are stop, half, add, roll, replace, kill, restart, with commas between them.',
        '--repeat is not an option; the nearest one is --repeats.',
        '--pod takes no value.',
        '--set: "A" is not allowed; allowed is NAME=VALUE.',
        '--beside: idle measures no other program; throughput and everyday do.',
        '--beside needs --beside-rows: the query for the number of its rows.',
        '--beside: {url} is not a placeholder; known are brokers, database, schema, topic, group.',
      ],
    });
  });

  test('refuse a benchmark that there is not, and a part of another program alone', () => {
    expect(readBenchOptions(['idel', '--beside-rows', 'select 1'])).toEqual({
      kind: 'problems',
      problems: [
        `There is no benchmark "idel": known are ${KNOWN}.`,
        '--beside-rows and --beside-setup need --beside: the program that they belong to.',
      ],
    });
  });
});
