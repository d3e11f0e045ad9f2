import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { configure, type Decision } from '../../../app/configuration/configure.ts';
import { folderWith } from './folder.ts';

const CWD = folderWith({
  'application.yml':
    'kafka: { brokers: [b:1], topics: [t], groupId: g }\ndatabase: { url: "postgresql://u:hunter2@h/d" }',
  'wrong.yml':
    'kafka: { brokers: [b:1], topics: [t], groupId: g }\ndatabase: { password: [hunter2] }\nserver: { prt: 1 }',
});

function exitOf(decision: Decision) {
  if (decision.kind !== 'exit') {
    throw new Error('the decision is to run');
  }
  return { stdout: '', stderr: '', ...decision };
}

const exit = (argv: readonly string[], env = {}) => exitOf(configure(argv, env, CWD));

describe('without options', () => {
  test('right settings are the decision to run with them', () => {
    expect(configure([], {}, CWD)).toMatchObject({ kind: 'run', settings: { kafka: { groupId: 'g' } } });
  });

  test('wrong settings are code 78, and all problems on standard error', () => {
    const { code, stdout, stderr } = exit(['--config', 'wrong.yml']);
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toContain('The configuration is wrong: 3 problems; nothing was started.');
    expect(stderr).toContain('database.url is missing');
    expect(stderr).toContain('database.password has the wrong type');
    expect(stderr).toContain('server.prt is not a known key (wrong.yml:3:16); did you mean server.port?');
    expect(stderr).not.toContain('hunter2');
  });

  test('says where it looked when no file was found', () => {
    const { stderr } = exitOf(configure([], {}, folderWith({})));
    expect(stderr).toContain('none is at application.yml or config/application.yml');
  });
});

describe('--check', () => {
  test('prints the resolved configuration as YAML with secrets masked, and is code 0', () => {
    const env = {
      DATABASE_PASSWORD: 'hunter2',
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: 'u',
      KAFKA_SASL_PASSWORD: 'hunter2',
    };
    const { code, stdout } = exit(['--check'], env);
    expect(code).toBe(0);
    expect(stdout).not.toContain('hunter2');
    expect(parse(stdout)).toMatchObject({
      server: { port: 8080 },
      kafka: { groupId: 'g', sasl: { mechanism: 'plain', username: 'u', password: '******' } },
      database: { url: 'postgresql://u:******@h/d', password: '******' },
    });
    expect(Object.keys(parse(stdout))[0]).toBe('server');
  });

  test('of wrong settings is code 78', () => {
    expect(exit(['--check', '--config=wrong.yml']).code).toBe(78);
  });
});

describe('--help', () => {
  test.each([['--help'], ['-h']])(
    'as %s lists options, required variables and exit codes, and needs no settings',
    (option) => {
      const { code, stdout } = exitOf(configure([option], {}, folderWith({})));
      expect(code).toBe(0);
      for (const word of [
        '--config FILE',
        '--config-tree DIR',
        '--check',
        '--version',
        'KAFKA_GROUP_ID',
        'DATABASE_URL',
        '\n  78 ',
      ]) {
        expect(stdout).toContain(word);
      }
    },
  );

  test('fits a terminal of 132 columns', () => {
    const widest = Math.max(
      ...exit(['--help'])
        .stdout.split('\n')
        .map((line) => line.length),
    );
    expect(widest).toBeLessThanOrEqual(132);
  });
});

describe('--version', () => {
  test.each([['--version'], ['-V']])('as %s prints name and version', (option) => {
    expect(exit([option])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^stream-consumer \d+\.\d+\.\d+\S*\n$/),
    });
  });
});

describe('a wrong command line', () => {
  test.each([
    [['--chek'], '--chek is not an option; did you mean --check?'],
    [['-x'], '-x is not an option'],
    [['--config'], '--config needs a value'],
    [['--config='], '--config needs a value'],
    [['--check=yes'], '--check takes no value: "yes"'],
    [['application.yml'], 'the command line takes options only: "application.yml"'],
  ])('%j is code 78 and says why', (argv, message) => {
    const { code, stderr } = exit(argv);
    expect(code).toBe(78);
    expect(stderr).toContain(message);
  });

  test('reports all at once', () => {
    expect(exit(['--a', '--b', 'c']).stderr).toContain('The command line is wrong: 3 problems');
  });
});
