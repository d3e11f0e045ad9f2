import { describe, expect, test } from '@jest/globals';
import { exit } from './exit-decision.ts';

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
