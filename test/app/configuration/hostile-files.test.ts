// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the placeholders of the configuration
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { configure } from '../../../app/commands/configure.ts';
import { folderWith } from './folder.ts';
import { problems, REQUIRED, yaml } from './loading.ts';

function refused(cwd: string, argv: readonly string[] = []): string {
  const decision = configure([...argv], REQUIRED, cwd);
  expect(decision).toMatchObject({ kind: 'exit', code: 78 });
  return decision.kind === 'exit' ? (decision.stderr ?? '') : '';
}

describe('a mistake in YAML tells a place and a reason, never what stands there', () => {
  test.each([
    ['a blank before the first key', ' database:\n  password: hunter2\nserver: {}', 'the indentation'],
    ['a colon in a value', 'database:\n  password: hunter2: x', 'quotes keep a colon as text'],
    ['an alias that is a password', 'database:\n  password: *hunter2', 'an alias names no anchor above it'],
    ['a password that begins with an at sign', 'database:\n  password: @hunter2', 'a character that YAML keeps'],
    ['a password that begins with a bang', 'database:\n  password: !hunter2 x\n  password: y', 'has a key twice'],
    ['a backslash in double quotes', 'database:\n  password: "\\hunter2"', 'a backslash in double quotes'],
    ['a quote that does not end', 'database:\n  password: "hunter2', 'a character is missing'],
    ['text behind a quote', 'database:\n  password: "x"hunter2', 'something is here that YAML does not allow'],
    ['a directive', '%hunter2 x\n---\nserver: {}\n%hunter2 hunter2\n', ''],
    ['a map as a key', '? { password: hunter2 }\n: x', 'a key is a list, a map or an alias'],
    ['a merge of a text', '<<: hunter2\nserver: {}', 'a merge key'],
  ])('%s', (_what, text, reason) => {
    const stderr = refused(yaml(text));
    expect(stderr).not.toContain('hunter2');
    expect(stderr).toMatch(/is not valid YAML: .* \(application\.yml(:\d+:\d+)?\)/);
    expect(stderr).toContain(reason);
  });

  test('a placeholder that is a part of a password is not named', () => {
    const stderr = refused(yaml('database:\n  password: "x${hunter2hunter2}"'));
    expect(stderr).toContain('database.password refers to ${******}, which is not set (application.yml:2:13)');
  });
});

describe('work is bounded', () => {
  test('8,000 unknown keys are ten problems and the number of the others', () => {
    const keys = Array.from({ length: 8_000 }, (_, index) => `k${index}x: 1`);
    const stderr = refused(yaml(keys.join('\n')));
    expect(stderr).toContain('The configuration is wrong: 8000 problems');
    expect(stderr.match(/is not a known key/g)).toHaveLength(10);
    expect(stderr).toContain('(application.yml:10:6)');
    expect(stderr).toContain('\nand 7,990 more\n');
  }, 60_000);

  test('8,000 wrong items of one list are, too', () => {
    const stderr = refused(
      yaml(`server:\n  ssl: { ${Array.from({ length: 8_000 }, (_, i) => `a${i}b: x`).join(', ')} }`),
    );
    expect(stderr).toContain('more\n');
  }, 60_000);

  test.each([
    ['closed', `${'${A:'.repeat(100_000)}x${'}'.repeat(100_000)}`],
    ['open', '${A:'.repeat(100_000)],
    ['with different names', Array.from({ length: 100_000 }, (_, index) => `\${N${index}:`).join('')],
  ])(
    '100,000 placeholders inside of each other are refused: %s',
    (_how, text) => {
      const stderr = refused(yaml(`database:\n  password: "${text}"`));
      expect(stderr).toContain('database.password has placeholders more than 16 deep inside of each other');
    },
    60_000,
  );

  test.each([
    ['brackets', '['.repeat(100_000)],
    ['closed brackets', `server: ${'['.repeat(700)}${']'.repeat(700)}`],
    ['braces', '{a: '.repeat(100_000)],
    ['dashes', '- '.repeat(100_000)],
  ])(
    '%s inside of each other are refused with a place',
    (_what, text) => {
      expect(refused(yaml(text))).toMatch(/is nested more than 64 levels deep \(application\.yml:1:\d+\)/);
    },
    60_000,
  );

  test('more than 1,000 aliases are refused', () => {
    const items = Array.from({ length: 5_000 }, (_, index) => `  a${index}: &a${index} x\n  b${index}: *a${index}`);
    expect(refused(yaml(`info:\n${items.join('\n')}`))).toContain(
      'there are more than 1000 aliases (application.yml:2003:',
    );
  });

  test('a file of more than 1 MiB is refused', () => {
    expect(refused(yaml(`# ${'x'.repeat(1_048_576)}`))).toContain('is larger than 1 MiB');
  });
});

/** Reading a pipe would wait for a writer for ever. */
const PLACES: Readonly<Record<string, (path: string) => void>> = {
  'is not a regular file: a pipe': (path) => execFileSync('mkfifo', [path]),
  'is not a regular file: a device': (path) => symlinkSync('/dev/zero', path),
  'is a folder': (path) => execFileSync('mkdir', [path]),
};

describe.each(Object.keys(PLACES))('what %s', (what) => {
  const make = PLACES[what] ?? (() => undefined);
  const message = `names something that ${what.split(':')[0]}`;

  test('is refused as the configuration file, not waited for', () => {
    const cwd = folderWith({});
    make(join(cwd, 'application.yml'));
    make(join(cwd, 'other.yml'));
    expect(refused(cwd)).toContain(`the configuration file ${message}: "application.yml"`);
    expect(refused(cwd, ['--config', 'other.yml'])).toContain(`--config ${message}: "other.yml"`);
  });

  test('is refused as what a certificate is read from', () => {
    const cwd = folderWith({ 'application.yml': '' });
    make(join(cwd, 'tls.pem'));
    const ssl = `server.ssl: { certificate: "${cwd}/tls.pem", certificate-private-key: "${cwd}/tls.pem" }`;
    expect(refused(folderWith({ 'application.yml': ssl }))).toContain(
      `server.ssl.certificate names a file that ${what.split(':')[0]}: "${cwd}/tls.pem"`,
    );
  });
});

test.each(Object.keys(PLACES).filter((what) => what !== 'is a folder'))(
  'what %s is refused as a file of the config tree, and left alone where it is no setting',
  (what) => {
    const configTree = folderWith({ 'server.port': '1' });
    PLACES[what]?.(join(configTree, 'unknown.name'));
    expect(problems({ configTree })).toEqual([]);
    PLACES[what]?.(join(configTree, 'database.password'));
    const message = `names something that ${what.split(':')[0]}`;
    const problem = { path: '--config-tree', message, source: join(configTree, 'database.password') };
    expect(problems({ configTree })).toMatchObject([problem]);
  },
);

describe('a refused value', () => {
  test.each([
    ['a broker with a user', { KAFKA_BROKERS: 'app:hunter2@kafka:9092' }, 'kafka.brokers[0]', '******'],
    ['a broker with a user alone', { KAFKA_BROKERS: 'hunter2@kafka:9092' }, 'kafka.brokers[0]', '******'],
    ['a URL without a host', { DATABASE_URL: 'postgres:hunter2' }, 'database.url', '******'],
    [
      'a URL of Spring Boot Admin with a user',
      { SPRING_BOOT_ADMIN_CLIENT_URL: 'http://a:hunter2@x' },
      'spring.boot.admin.client.url[0]',
      '******',
    ],
    [
      'a URL of Spring Boot Admin with a query',
      { SPRING_BOOT_ADMIN_CLIENT_URL: 'http://x?t=hunter2' },
      'spring.boot.admin.client.url[0]',
      '******',
    ],
    ['a number', { SERVER_PORT: '70000' }, 'server.port', 70_000],
    ['a choice with a slip', { CONSUMER_START_FROM: 'comitted' }, 'consumer.startFrom', 'comitted'],
    ['another word for a choice', { CONSUMER_START_FROM: 'beginning' }, 'consumer.startFrom', '******'],
    ['a duration', { SHUTDOWN_TIMEOUT: '0s' }, 'shutdown.timeout', '0s'],
    ['a text with digits in a word', { SERVER_PORT: 'hunter2' }, 'server.port', '******'],
  ])('%s is shown only if it can hold no secret', (_what, env, path, given) => {
    expect(problems({ env: { ...REQUIRED, ...env } })).toMatchObject([{ path, given }]);
  });

  test('that is PEM in place of a path is masked, and so are parts of a path that are no words', () => {
    const pem = '-----BEGIN PRIVATE KEY-----\nhunter2/hunter2\n-----END PRIVATE KEY-----\n';
    const env = { ...REQUIRED, SERVER_SSL_CERTIFICATE: pem, SERVER_SSL_CERTIFICATE_PRIVATE_KEY: '/no/h4nter2/tls.key' };
    const decision = configure([], env, folderWith({}));
    expect(decision).toMatchObject({ kind: 'exit', code: 78, stderr: expect.not.stringMatching(/h.nter2/) });
    expect(decision).toMatchObject({ stderr: expect.stringContaining('does not exist: "/no/******/tls.key"') });
  });

  test('at an unknown key is not shown, and the key only if it is a name', () => {
    const stderr = refused(
      yaml('server:\n  "postgresql://u:hunter2@h/d": 1\n  certficate: 1\nhunter2hunter2: x\njdbc: {}'),
    );
    expect(stderr).toContain('server.****** is not a known key (application.yml:2:');
    expect(stderr).toContain('****** is not a known key (application.yml:4:17)');
    expect(stderr).toContain('jdbc is not a known key');
    expect(stderr).not.toContain('hunter2');
  });
});

test('--check masks what a slip put where names are free', () => {
  const text =
    'info: { boot: { pasword: hunter2hunter2, url: "postgresql://u:hunter2@h/d", team: a } }\nkafka.clientId: a\n  password:hunter2';
  const decision = configure(['--check'], REQUIRED, yaml(text));
  expect(decision).toMatchObject({ code: 0, stdout: expect.not.stringContaining('hunter2') });
  expect(decision).toMatchObject({ stdout: expect.stringContaining('team: a') });
});
