import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { besideCommand } from '../../../dev/bench/measured-program.ts';

test('the command of another program gets each value as one word of the shell', () => {
  const target = {
    brokers: 'a:1,b:2',
    database: "postgres://u:p'w@h/d?a=1&b=$2",
    schema: 's',
    topic: 't',
    group: 'g h',
  };
  const command = besideCommand('printf "%s\\n" {brokers} --url={database} {topic} {group} {schema} {topic}', target);
  const printed = execFileSync('bash', ['-c', command], { encoding: 'utf8' });
  expect(printed.trimEnd().split('\n')).toEqual([
    target.brokers,
    `--url=${target.database}`,
    target.topic,
    target.group,
    target.schema,
    target.topic,
  ]);
});
