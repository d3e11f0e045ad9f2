import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { configure, type Decision } from '../../../app/commands/configure.ts';
import { folderWith } from '../configuration/folder.ts';

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

describe('a wrong command line', () => {
  test.each([
    [['--chek'], '--chek is not an option; did you mean --check?'],
    [['-x'], '-x is not an option'],
    [['--config'], '--config needs a value'],
    [['--config='], '--config needs a value'],
    [['--check=yes'], '--check takes no value: "yes"'],
    [['application.yml'], 'the command line has a word that is no command: "application.yml"'],
    [['deadletters'], 'did you mean dead-letters list?'],
    [['migrat'], 'did you mean migrate?'],
    [['table'], 'did you mean tables check?'],
    [['tables'], 'the command tables needs a further word'],
    [['tables', 'chek'], 'the command tables cannot do this: "chek"'],
    [['tables', 'check', 'orders'], 'the command tables check takes no further word: "orders"'],
    [['tables', 'check', '--dry-run'], '--dry-run is not an option'],
    [['tables', 'check', '--topic', 'orders'], '--topic is not an option'],
    [['tables', 'check', '--table'], '--table needs a value'],
    [['tables', 'ddl', 'orders'], 'the command tables ddl takes no further word: "orders"'],
    [['tables', 'ddl', '--json'], '--json is not an option'],
    [['tables', 'ddl', '--from', 'latest'], '--from is no place that types come from: "latest"'],
    [['tables', 'ddl', '--records', '0'], '--records is no number of records: "0"'],
    [['tables', 'dry-run', '--records', '100001'], 'allowed: a whole number from 1 to 100,000'],
    [['tables', 'dry-run', '--from', 'registry'], '--from is no place in a topic: "registry"'],
    [['tables', 'dry-run', '--from', '-1'], '--from is no place in a topic'],
    [
      ['tables', 'dry-run', '--sample', 'a', '--from', '1'],
      '--from says what is read of Kafka, and --sample names a file',
    ],
    [['tables', 'dry-run', '--sample'], '--sample needs a value'],
    [['migrate', 'now'], 'has a word that is no command: "now"'],
    [['migrate', '--check'], '--check is not an option'],
    [['dead-letters'], 'the command dead-letters needs a further word'],
    [['dead-letters', 'delete'], 'the command dead-letters cannot do this: "delete"'],
    [['dead-letters', 'list', 'orders'], 'the command dead-letters list takes options only: "orders"'],
    [['dead-letters', 'list', '--dry-run'], '--dry-run is not an option'],
    [
      ['dead-letters', 'replay', 'orders'],
      'the command dead-letters replay takes the place of a dead letter: "orders"',
    ],
    [['dead-letters', 'replay', 'orders/0/1', '--limit', '2'], '--limit selects letters, and a place names one'],
    [['dead-letters', 'replay', '--value', 'x'], '--value is for one dead letter'],
    [['dead-letters', 'replay', 'orders/0/1', '--value', '/no/such/file'], '--value cannot be read (ENOENT)'],
    [['dead-letters', 'show'], 'the command dead-letters show needs the place of a dead letter'],
    [['dead-letters', 'show', 'orders/0/1', 'orders/0/2'], 'the command dead-letters show takes one dead letter'],
    [['dead-letters', 'show', 'orders/2147483648/1'], 'takes the place of a dead letter'],
    [['dead-letters', 'show', 'orders/0/9223372036854775808'], 'takes the place of a dead letter'],
    [['dead-letters', 'discard', 'orders/0/1'], '--because is missing'],
    [['dead-letters', 'discard', 'orders/0/1', '--because', ' '], '--because is missing'],
    [['dead-letters', 'replay', '--show-value'], '--show-value is not an option'],
    [['dead-letters', 'replay', '--check'], '--check is not an option'],
    [['dead-letters', 'replay', '--reason', 'invalid_jsn'], 'did you mean invalid_json?'],
    [['dead-letters', 'replay', '--reason'], '--reason needs a value'],
    [['dead-letters', 'replay', '--limit', '0'], '--limit is no number of letters: "0"'],
    [['dead-letters', 'replay', '--limit=1e3'], '--limit is no number of letters: "1e3"'],
    [['--reason', 'invalid_json'], '--reason is not an option'],
    [['ofsets'], 'did you mean offsets accept-topic?'],
    [['offsets'], 'the command offsets needs a further word'],
    [['offsets', 'reset', 'orders'], 'the command offsets cannot do this: "reset"'],
    [['offsets', 'begin-again'], 'the command offsets begin-again needs a topic'],
    [['offsets', 'begin-again', 'a', 'b'], 'the command offsets begin-again takes one topic: "b"'],
    [['offsets', 'accept-topic', 'orders', '--rename-rows'], '--rename-rows is not an option'],
    [['offsets', 'accept-topic', 'orders', '--keep-table-rows'], '--keep-table-rows is not an option'],
  ])('%j is code 78 and says why', (argv, message) => {
    const { code, stderr } = exit(argv);
    expect(code).toBe(78);
    expect(stderr).toContain(message);
  });

  test('is one problem for letters behind one dash, which may be a password', () => {
    const { stderr } = exit(['-pq7zw']);
    expect(stderr).toContain('The command line is wrong: 1 problem; nothing was started.\n\n****** is not an option');
  });

  test('reports all at once', () => {
    expect(exit(['--a', '--b', 'c', 'd']).stderr).toContain('The command line is wrong: 3 problems');
  });

  test('says nothing of the word behind an unknown option, which is its value and may be a secret', () => {
    const { stderr } = exit(['--password', 'geheim', '--check']);
    expect(stderr).toContain('The command line is wrong: 1 problem');
    expect(stderr).toContain('--password is not an option');
    expect(stderr).not.toContain('geheim');
  });
});
