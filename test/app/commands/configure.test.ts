import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { configure } from '../../../app/commands/configure.ts';
import { folderWith } from '../configuration/folder.ts';
import { CWD, exit, exitOf } from './exit-decision.ts';

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

  test.each([[[]], [['--check']]])("a certificate's files that cannot be used are code 78, too: %j", (argv) => {
    const env = { SERVER_SSL_CERTIFICATE: '/no/tls.crt', SERVER_SSL_CERTIFICATE_PRIVATE_KEY: '/no/tls.key' };
    const { code, stdout, stderr } = exit(argv, env);
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toContain('2 problems; nothing was started.');
    expect(stderr).toContain('server.ssl.certificate names a file that does not exist: "/no/tls.crt"');
    expect(stderr).toContain('server.ssl.certificate-private-key names a file that does not exist: "/no/tls.key"');
  });

  test('a variable that is nearly the name of a setting is a warning beside the settings, and beside their problems', () => {
    const warning = expect.stringMatching(/^the environment variable KAFKA_CLIENT_IDS .* KAFKA_CLIENT_ID\?$/);
    const env = { KAFKA_CLIENT_IDS: 'hunter2' };
    expect(configure([], env, CWD)).toMatchObject({ kind: 'run', warnings: [warning] });
    const shown = 'warning: the environment variable KAFKA_CLIENT_IDS';
    for (const argv of [['--check'], ['--config', 'wrong.yml']]) {
      const { stderr } = exit(argv, env);
      expect(stderr).toContain(shown);
      expect(stderr).not.toContain('hunter2');
    }
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
      MANAGEMENT_SECURITY_TOKEN: 'hunter2',
      SPRING_BOOT_ADMIN_CLIENT_USERNAME: 'u',
      SPRING_BOOT_ADMIN_CLIENT_PASSWORD: 'hunter2',
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
        'dead-letters list|show|replay|discard',
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

test('migrate takes the settings from the same places as the consumer', () => {
  const decision = configure(['migrate', '--config', 'application.yml'], {}, CWD);
  expect(decision).toMatchObject({ kind: 'command', settings: { kafka: { groupId: 'g' } } });
  expect(exit(['migrate', '--config', 'wrong.yml']).code).toBe(78);
});

describe('dead-letters', () => {
  const asked = (argv: readonly string[]) => {
    const decision = configure(['dead-letters', ...argv], {}, CWD);
    return decision.kind === 'command' ? decision.request.asked : exitOf(decision);
  };

  test('list shows the first hundred without their values unless it is told otherwise', () => {
    expect(asked(['list'])).toEqual({
      filter: { reasons: [], topics: [] },
      limit: 100,
      json: false,
      showValue: false,
    });
    expect(asked(['list', '--limit', '5', '--json', '--show-value'])).toMatchObject({
      limit: 5,
      json: true,
      showValue: true,
    });
  });

  test('replay takes all letters, and of several reasons and topics each', () => {
    const options = [
      '--reason',
      'invalid_json',
      '--reason=key_not_text',
      '--topic',
      'a',
      '--topic',
      'b',
      '--dry-run',
      '--overwrite',
    ];
    expect(asked(['replay', ...options])).toEqual({
      filter: { reasons: ['invalid_json', 'key_not_text'], topics: ['a', 'b'] },
      limit: undefined,
      json: false,
      dryRun: true,
      overwrite: true,
    });
  });

  test('show, discard and replay take the place of one letter', () => {
    const place = { topic: 'orders', partition: 1, offset: 5n };
    expect(asked(['show', 'orders/1/5', '--json'])).toEqual({ place, json: true });
    expect(asked(['discard', 'orders/1/5', '--group', 'g', '--because', ' test data '])).toEqual({
      place: { ...place, groupId: 'g' },
      json: false,
      because: 'test data',
    });
    const value = join(CWD, 'value.json');
    writeFileSync(value, '{"a":1}');
    expect(asked(['replay', 'orders/1/5', '--value', value])).toMatchObject({
      filter: { reasons: [], topics: [], place },
      value: Buffer.from('{"a":1}'),
    });
  });

  test('options may stand before the command, and its settings come from where the consumer has them', () => {
    const decision = configure(['--config', 'application.yml', 'dead-letters', 'list'], {}, CWD);
    expect(decision).toMatchObject({ kind: 'command', settings: { kafka: { groupId: 'g' } } });
    expect(exit(['dead-letters', 'list', '--config', 'wrong.yml']).code).toBe(78);
  });

  test.each([[['dead-letters', '--help']], [['dead-letters', 'replay', '-h']]])(
    '%j explains options, reasons and exit codes in 132 columns',
    (argv) => {
      const { code, stdout } = exitOf(configure(argv, {}, folderWith({})));
      expect(code).toBe(0);
      for (const word of ['--dry-run', '--show-value', 'value_too_large', '\n  130 ']) {
        expect(stdout).toContain(word);
      }
      expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(132);
    },
  );
});

describe('offsets', () => {
  test.each([
    [['accept-topic', 'orders'], { topic: 'orders', dryRun: false }],
    [
      ['begin-again', '--rename-rows', 'orders', '--dry-run'],
      { topic: 'orders', dryRun: true, renameRows: true, keepTableRows: false },
    ],
    [
      ['begin-again', 'orders', '--keep-table-rows'],
      { topic: 'orders', dryRun: false, renameRows: false, keepTableRows: true },
    ],
  ])('%j is the request, with the settings of the consumer', (argv, request) => {
    const decision = configure(['offsets', ...argv], {}, CWD);
    expect(decision).toMatchObject({ kind: 'command', settings: { kafka: { groupId: 'g' } } });
    expect(decision).toHaveProperty('request.asked', request);
    expect(exit(['offsets', ...argv, '--config', 'wrong.yml']).code).toBe(78);
  });

  test.each([[['offsets', '--help']], [['offsets', 'begin-again', '-h']]])(
    '%j explains both in 132 columns',
    (argv) => {
      const { code, stdout } = exitOf(configure(argv, {}, folderWith({})));
      expect(code).toBe(0);
      for (const word of [
        'accept-topic ',
        'begin-again ',
        '--rename-rows ',
        '--keep-table-rows ',
        '--dry-run ',
        '\n  78 ',
      ]) {
        expect(stdout).toContain(word);
      }
      expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(132);
    },
  );
});

describe('tables', () => {
  test.each([
    [['check'], { json: false }],
    [['check', '--json'], { json: true }],
    [['ddl'], { topics: [], from: undefined, records: 1_000 }],
    [
      ['ddl', '--topic', 'a', '--topic', 'b', '--from', 'records', '--records', '5'],
      { topics: ['a', 'b'], from: 'records', records: 5 },
    ],
    [
      ['dry-run'],
      { topics: [], selection: { from: 'latest', count: 100 }, sample: undefined, values: false, json: false },
    ],
    [
      ['dry-run', '--topic', 'a', '--from', '12', '--records', '100000', '--values', '--json'],
      { topics: ['a'], selection: { from: 12n, count: 100_000 }, sample: undefined, values: true, json: true },
    ],
    [
      ['dry-run', '--from=earliest'],
      { topics: [], selection: { from: 'earliest', count: 100 }, sample: undefined, values: false, json: false },
    ],
    [
      ['dry-run', '--sample', 'file.jsonl'],
      { topics: [], selection: { from: 'latest', count: 100 }, sample: 'file.jsonl', values: false, json: false },
    ],
  ])('%j is the request, with the settings of the consumer', (argv, request) => {
    const decision = configure(['tables', ...argv], {}, CWD);
    expect(decision).toMatchObject({ kind: 'command', settings: { kafka: { groupId: 'g' } } });
    expect(decision).toHaveProperty('request.asked', request);
    expect(exit(['tables', ...argv, '--config', 'wrong.yml']).code).toBe(78);
  });

  test.each([[['tables', '--help']], [['tables', 'check', '-h']]])('%j explains them in 132 columns', (argv) => {
    const { code, stdout } = exitOf(configure(argv, {}, folderWith({})));
    expect(code).toBe(0);
    for (const word of [
      'tables check ',
      'tables ddl ',
      'tables dry-run ',
      '--json ',
      '\n  65 ',
      '\n  78 ',
      '\n  130 ',
    ]) {
      expect(stdout).toContain(word);
    }
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(132);
  });
});

test.each([['--version'], ['-V']])('%s prints name and version', (option) => {
  expect(exit([option])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^stream-consumer \d+\.\d+\.\d+\S*\n$/),
  });
});
