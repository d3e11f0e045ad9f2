// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the placeholders of the configuration
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { loadSettings, type SettingsSources } from '../../../app/configuration/load-settings.ts';
import { describeProblem, type Problem } from '../../../contract/problem.ts';
import type { SchemaNode } from '../../../contract/schema-node.ts';
import { listSettings, springEnvironmentName } from '../../../contract/setting-list.ts';
import { type Settings, SettingsSchema } from '../../../contract/settings.ts';
import { folderWith } from './folder.ts';

const REQUIRED = {
  KAFKA_BROKERS: 'localhost:9092',
  KAFKA_TOPICS: 'orders',
  KAFKA_GROUP_ID: 'orders-to-postgres',
  DATABASE_URL: 'postgresql://localhost/orders',
};

const EMPTY = folderWith({});

function load(sources: Partial<SettingsSources>): Settings {
  const loaded = loadSettings({ env: REQUIRED, cwd: EMPTY, ...sources });
  if (!loaded.ok) {
    throw new Error(loaded.problems.map(describeProblem).join('\n'));
  }
  return loaded.value;
}

function problems(sources: Partial<SettingsSources>): readonly Problem[] {
  const loaded = loadSettings({ env: REQUIRED, cwd: EMPTY, ...sources });
  return loaded.ok ? [] : loaded.problems;
}

const yaml = (text: string): string => folderWith({ 'application.yml': text });

describe('the environment', () => {
  test('is enough without any file', () => {
    expect(load({})).toMatchObject({
      server: { port: 8080 },
      kafka: { brokers: ['localhost:9092'], topics: ['orders'], groupId: 'orders-to-postgres' },
      database: { url: 'postgresql://localhost/orders', schema: 'stream_consumer' },
    });
  });

  test.each([
    ['SERVER_PORT', '9090', (settings: Settings) => settings.server.port, 9090],
    ['KAFKA_BROKERS', 'a:1, b:2', (settings: Settings) => settings.kafka.brokers, ['a:1', 'b:2']],
    ['KAFKA_TOPICS', 'a,b', (settings: Settings) => settings.kafka.topics, ['a', 'b']],
    ['KAFKA_GROUP_ID', 'g', (settings: Settings) => settings.kafka.groupId, 'g'],
    ['DATABASE_URL', 'postgres://h/d', (settings: Settings) => settings.database.url, 'postgres://h/d'],
    ['DATABASE_SCHEMA', 's', (settings: Settings) => settings.database.schema, 's'],
    ['DATABASE_PASSWORD', ' 0123 ', (settings: Settings) => settings.database.password, ' 0123 '],
    ['KAFKA_SSL', 'true', (settings: Settings) => settings.kafka.ssl, true],
    ['DEAD_LETTERS_MAX_RATIO', '0.05', (settings: Settings) => settings.deadLetters.maxRatio, 0.05],
    ['MANAGEMENT_HEALTH_KAFKA_IN_ROOT', 'on', (settings: Settings) => settings.management.health.kafka.inRoot, true],
    [
      'MANAGEMENT_METRICS_TAGS_REGION',
      'eu-1',
      (settings: Settings) => settings.management.metrics.tags['region'],
      'eu-1',
    ],
    [
      'MANAGEMENT_METRICS_TAGS_APPLICATION',
      'mine',
      (settings: Settings) => settings.management.metrics.tags['application'],
      'mine',
    ],
  ])('%s sets its setting', (name, value, read, expected) => {
    expect(read(load({ env: { ...REQUIRED, [name]: value } }))).toEqual(expected);
  });

  test("finds Spring's form without the inner underscores, and prefers the documented one", () => {
    const { KAFKA_GROUP_ID, ...rest } = REQUIRED;
    expect(load({ env: { ...rest, KAFKA_GROUPID: 'spring' } }).kafka.groupId).toBe('spring');
    expect(load({ env: { ...rest, KAFKA_GROUPID: 'spring', KAFKA_GROUP_ID } }).kafka.groupId).toBe(KAFKA_GROUP_ID);
  });

  test('has a name for every setting, and both forms of all names are different', () => {
    const entries = listSettings(SettingsSchema as SchemaNode);
    const names = entries.flatMap(({ environmentName, path }) => [
      ...new Set([environmentName, springEnvironmentName(path)]),
    ]);
    expect(entries.length).toBeGreaterThan(20);
    expect(new Set(names).size).toBe(names.length);
  });

  test('gives lists by index', () => {
    const { KAFKA_BROKERS: _replaced, ...rest } = REQUIRED;
    const env = { ...rest, KAFKA_BROKERS_0: 'a:1', KAFKA_BROKERS_1: 'b:2', KAFKA_BROKERS_3: 'd:4' };
    expect(load({ env }).kafka.brokers).toEqual(['a:1', 'b:2']);
  });

  test('may hold names that are no settings, such as those of service links', () => {
    const links = { KAFKA_PORT: 'tcp://10.0.0.1:9092', KAFKA_SERVICE_HOST: '10.0.0.1', SERVER: 'x', DATABASE_: 'y' };
    expect(load({ env: { ...REQUIRED, ...links } })).toEqual(load({}));
  });

  test('names the variable in a problem', () => {
    expect(problems({ env: { ...REQUIRED, SERVER_PORT: 'tcp://10.0.0.1:8080' } })).toEqual([
      {
        path: 'server.port',
        message: 'has the wrong type',
        given: 'tcp://10.0.0.1:8080',
        allowed: 'a whole number from 0 to 65535',
        source: 'environment variable SERVER_PORT',
      },
    ]);
  });

  test('names the variable of the item that is wrong', () => {
    const { KAFKA_BROKERS: _replaced, ...rest } = REQUIRED;
    expect(problems({ env: { ...rest, KAFKA_BROKERS_0: 'a:1', KAFKA_BROKERS_1: 'b' } })).toMatchObject([
      { path: 'kafka.brokers[1]', source: 'environment variable KAFKA_BROKERS_1' },
    ]);
    expect(problems({ env: { ...REQUIRED, KAFKA_BROKERS: 'a:1,b' } })).toMatchObject([
      { path: 'kafka.brokers[1]', source: 'environment variable KAFKA_BROKERS' },
    ]);
  });
});

describe('the YAML file', () => {
  test.each([
    ['camelCase', 'kafka: { groupId: g, sessionTimeout: 20s }'],
    ['kebab-case', 'kafka: { group-id: g, session-timeout: 20s }'],
    ['snake_case', 'kafka:\n  group_id: g\n  session_timeout: 20s'],
    ['dotted keys', 'kafka.group-id: g\nkafka.session-timeout: 20s'],
    ['capitals', 'KAFKA: { GROUPID: g, SESSION_TIMEOUT: 20s }'],
  ])('is understood in %s', (_name, text) => {
    const { KAFKA_GROUP_ID: _replaced, ...env } = REQUIRED;
    expect(load({ cwd: yaml(text), env }).kafka).toMatchObject({ groupId: 'g', sessionTimeout: '20s' });
  });

  test('is understood with several levels in one key, at any level', () => {
    expect(load({ cwd: yaml('management.health.kafka.in-root: true') }).management.health.kafka.inRoot).toBe(true);
    expect(load({ cwd: yaml('management: { health.kafka: { in-root: true } }') }).management.health.kafka.inRoot).toBe(
      true,
    );
  });

  test.each([
    ['a number where a text is asked', '0123', '0123'],
    ['a number in scientific notation', '1e3', '1e3'],
    ['a boolean', 'true', 'true'],
    ['a quoted text', '" a b "', ' a b '],
    ['a date', '2024-01-01', '2024-01-01'],
    ['a quoted null', '"null"', 'null'],
  ])('keeps %s as it was written', (_name, written, expected) => {
    expect(load({ cwd: yaml(`database: { password: ${written} }`) }).database.password).toBe(expected);
  });

  test('gives numbers and booleans from quoted texts', () => {
    const { server, kafka } = load({ cwd: yaml('server: { port: "81" }\nkafka: { ssl: "yes" }') });
    expect([server.port, kafka.ssl]).toEqual([81, true]);
  });

  test('gives a list from a sequence, from one text and from a comma-separated one', () => {
    const { KAFKA_TOPICS: _replaced, ...env } = REQUIRED;
    const topics = (text: string) => load({ cwd: yaml(`kafka: { topics: ${text} }`), env }).kafka.topics;
    expect(topics('[a, b]')).toEqual(['a', 'b']);
    expect(topics('a')).toEqual(['a']);
    expect(topics('"a, b"')).toEqual(['a', 'b']);
  });

  test('may leave sections and values empty', () => {
    expect(load({ cwd: yaml('server:\nkafka:\n  clientId:\ndatabase: {}\n') })).toEqual(load({}));
    expect(load({ cwd: yaml('') })).toEqual(load({}));
    expect(load({ cwd: yaml('# nothing\n---\n---\n') })).toEqual(load({}));
  });

  test('replaces placeholders, of the environment alone', () => {
    const cwd = yaml('server: { port: "${PORT:81}" }\ndatabase: { user: "${WHO}", password: "\\\\${WHO}" }');
    expect(load({ cwd, env: { ...REQUIRED, WHO: 'me' } })).toMatchObject({
      server: { port: 81 },
      database: { user: 'me', password: '${WHO}' },
    });
    expect(load({ cwd, env: { ...REQUIRED, WHO: 'me', PORT: '82' } }).server.port).toBe(82);
  });

  test('may name a setting in a placeholder instead of its variable', () => {
    const { DATABASE_URL: _replaced, ...rest } = REQUIRED;
    const cwd = yaml('database: { user: "${my-role}", url: "postgresql://${my.host}/d" }');
    expect(load({ cwd, env: { ...rest, MY_ROLE: 'me', MY_HOST: 'h' } }).database).toMatchObject({
      user: 'me',
      url: 'postgresql://h/d',
    });
  });

  test('of several documents lets the later one win, setting by setting', () => {
    const cwd = yaml('server: { port: 1, address: a }\n---\nserver: { port: 2 }\n---\nserver: {}\n');
    expect(load({ cwd }).server).toEqual({ port: 2, address: 'a' });
  });

  test('understands anchors, aliases and merge keys', () => {
    const cwd = yaml(
      'management:\n  metrics:\n    tags: &t { a: "1" }\n---\nkafka: { <<: &k { clientId: c }, ssl: true }',
    );
    expect(load({ cwd }).kafka).toMatchObject({ clientId: 'c', ssl: true });
  });

  test('keeps the names of labels, dots excepted by the rule for labels', () => {
    const cwd = yaml('management.metrics.tags: { fooBar: x, foo_bar: y }');
    expect(load({ cwd }).management.metrics.tags).toMatchObject({ fooBar: 'x', foo_bar: 'y' });
    expect(problems({ cwd: yaml('management.metrics.tags: { "a.b": x }') })).toMatchObject([
      { path: 'management.metrics.tags.a.b', source: 'application.yml:1:35' },
    ]);
  });

  test.each(['__proto__: { polluted: 1 }', 'server: { __proto__: { port: 1 } }', 'constructor: 1'])(
    'treats %s as an unknown key',
    (text) => {
      expect(problems({ cwd: yaml(text) })).toMatchObject([{ message: 'is not a known key' }]);
    },
  );
});

describe('a problem in the YAML file', () => {
  test.each([
    ['a value', 'server:\n  port: x', 'server.port', 'application.yml:2:9'],
    ['an item', 'kafka:\n  clientId: 1\n  topics:\n    - a\n    - b c', 'kafka.topics[1]', 'application.yml:5:7'],
    ['an unknown key', 'server:\n  prt: 1', 'server.prt', 'application.yml:2:8'],
    ['an unknown section', 'spring:\n  kafka:\n    x: 1', 'spring', 'application.yml:1:1'],
    ['a section that is a text', 'server: 80', 'server', 'application.yml:1:9'],
    ['a value that is a section', 'server:\n  port:\n    a: 1', 'server.port', 'application.yml:2:3'],
    ['a value in a later document', 'server: {}\n---\nserver.port: x', 'server.port', 'application.yml:3:14'],
  ])('says line and column of %s', (_name, text, path, source) => {
    const { KAFKA_TOPICS: _replaced, ...env } = REQUIRED;
    const found = problems({ cwd: yaml(text), env: text.includes('topics') ? env : REQUIRED });
    expect(found).toMatchObject([{ path, source }]);
  });

  test('is reported for each placeholder without a value, without calling the setting missing too', () => {
    const { DATABASE_URL: _replaced, ...env } = REQUIRED;
    expect(problems({ cwd: yaml('database:\n  url: "postgresql://${H}/${D}"'), env })).toEqual([
      {
        path: 'database.url',
        message: 'refers to ${H}, which is not set',
        allowed: 'set the environment variable H, or give a default: ${H:value}',
        source: 'application.yml:2:8',
      },
      expect.objectContaining({ message: 'refers to ${D}, which is not set' }),
    ]);
  });

  test('names the variable to set where a placeholder is not written like one', () => {
    expect(problems({ cwd: yaml('database: { password: "${role-password}" }') })).toMatchObject([
      { allowed: expect.stringContaining('set the environment variable ROLE_PASSWORD,') },
    ]);
  });

  test('does not count when a source above it gives the setting', () => {
    expect(
      load({
        cwd: yaml('database: { url: "${NOBODY_SET_THIS}" }\nserver.port: x'),
        env: { ...REQUIRED, SERVER_PORT: '1' },
      }).server.port,
    ).toBe(1);
  });

  test('is reported when two spellings name one setting', () => {
    expect(problems({ cwd: yaml('kafka:\n  clientId: a\n  client-id: b') })).toMatchObject([
      { path: 'kafka.clientId', message: 'is given twice: at application.yml:2:13 and at application.yml:3:14' },
    ]);
  });

  test.each([
    ['a tab', 'server:\n\tport: 1', /^application\.yml:2:/],
    ['a key twice', 'server: {}\nserver: {}', /^application\.yml:2:1$/],
    ['an open bracket', 'kafka: [', /^application\.yml:1:/],
    ['an unknown alias', 'server: *nobody', /^application\.yml/],
    ['an alias inside of itself', 'server: &a [*a]', /^application\.yml:1:13$/],
    [
      'aliases that multiply',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'.replace(/./g, (c) => `${c}: &${c} [${Array(9).fill(`*${String.fromCharCode(c.charCodeAt(0) - 1)}`)}]\n`)}`,
      /^application\.yml/,
    ],
  ])('names the place of %s', (_name, text, place) => {
    const found = problems({ cwd: yaml(text) });
    expect(found).not.toHaveLength(0);
    expect(found[0]).toMatchObject({ message: expect.stringMatching(/^is not valid YAML: /) });
    expect(found[0]?.source).toMatch(place);
  });

  test('is found, never thrown, whatever the file holds', () => {
    const cwd = yaml('');
    const names = ['server', 'kafka', 'port', 'topics', 'tags', 'management.metrics.tags', 'sasl', 'x.', '.', ''];
    const { section } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.string(),
        fc.integer(),
        fc.constant(null),
        fc.array(tie('value')),
        tie('section'),
      ),
      section: fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), tie('value')),
    }));
    fc.assert(
      fc.property(section, (document) => {
        writeFileSync(join(cwd, 'application.yml'), JSON.stringify(document));
        for (const problem of problems({ cwd })) {
          expect(describeProblem(problem)).toContain('allowed: ');
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('the configuration file', () => {
  const cwd = folderWith({
    'application.yml': 'server.port: 1',
    'config/application.yml': 'server.port: 2',
    'other.yml': 'server.port: 3',
    'named.yml': 'server.port: 4',
  });
  const other = folderWith({ 'config/application.yml': 'server.port: 2' });

  test.each([
    ['./application.yml', { cwd }, 1],
    ['./config/application.yml when that is not there', { cwd: other }, 2],
    ['the one that CONFIG_FILE names', { cwd, env: { ...REQUIRED, CONFIG_FILE: 'other.yml' } }, 3],
    ['./application.yml when CONFIG_FILE is empty', { cwd, env: { ...REQUIRED, CONFIG_FILE: '' } }, 1],
    [
      'the one on the command line before CONFIG_FILE',
      { cwd, configFile: 'named.yml', env: { ...REQUIRED, CONFIG_FILE: 'other.yml' } },
      4,
    ],
    ['one with an absolute path', { cwd: other, configFile: join(cwd, 'named.yml') }, 4],
  ])('is %s', (_name, sources, port) => {
    expect(load(sources).server.port).toBe(port);
  });

  test.each([
    ['--config', { configFile: 'nowhere.yml' }, 'nowhere.yml'],
    ['CONFIG_FILE', { env: { ...REQUIRED, CONFIG_FILE: 'nowhere.yml' } }, 'nowhere.yml'],
  ])('that %s names has to exist, and nothing else is reported then', (path, sources, given) => {
    expect(problems({ cwd, ...sources })).toEqual([
      {
        path,
        message: 'names something that does not exist',
        given,
        allowed: 'a readable YAML file',
        source: join(cwd, given),
      },
    ]);
  });

  test('may not be a folder', () => {
    expect(problems({ cwd, configFile: 'config' })).toMatchObject([{ message: 'names something that is a folder' }]);
  });

  test('has to be UTF-8; a byte order mark does not count', () => {
    writeFileSync(join(cwd, 'latin1.yml'), Buffer.from('server: { address: "h\xf6st" }', 'latin1'));
    writeFileSync(join(cwd, 'bom.yml'), '\uFEFFserver.port: 5');
    expect(problems({ cwd, configFile: 'latin1.yml' })).toMatchObject([
      { message: 'names something that is not UTF-8 text' },
    ]);
    expect(load({ cwd, configFile: 'bom.yml' }).server.port).toBe(5);
  });
});

describe('the config tree', () => {
  test('gives settings by file name, with dots or as folders, less the last line break', () => {
    const configTree = folderWith({
      'database/password': ' a\nb \n',
      'database.user': 'me\r\n',
      'kafka/group-id': 'from-tree',
      'server.port': '82\n',
    });
    const { KAFKA_GROUP_ID: _replaced, ...env } = REQUIRED;
    expect(load({ configTree, env })).toMatchObject({
      database: { password: ' a\nb ', user: 'me' },
      kafka: { groupId: 'from-tree' },
      server: { port: 82 },
    });
  });

  test('is the folder that CONFIG_TREE names unless the command line names one', () => {
    const configTree = folderWith({ 'server.port': '82' });
    const env = { ...REQUIRED, CONFIG_TREE: configTree };
    expect(load({ env }).server.port).toBe(82);
    expect(load({ env, configTree: folderWith({ 'server.port': '83' }) }).server.port).toBe(83);
  });

  test('is read as Kubernetes mounts it, each file once, through its links', () => {
    const configTree = folderWith({ '..2024_01/database.password': 'a' });
    symlinkSync('..2024_01', join(configTree, '..data'));
    symlinkSync(join('..data', 'database.password'), join(configTree, 'database.password'));
    symlinkSync('..2024_02', join(configTree, '..data_tmp'));
    symlinkSync('.', join(configTree, 'loop'));
    expect(load({ configTree }).database.password).toBe('a');
  });

  test('may hold files that are no settings; placeholders can name them', () => {
    const configTree = folderWith({ 'role-password': 'p:${HOME}', 'tls.crt': 'x', 'kafka/unknown': 'y' });
    const cwd = yaml('database: { password: "${role-password}" }');
    expect(load({ configTree, cwd }).database.password).toBe('p:${HOME}');
  });

  test('stands above the file and below the environment', () => {
    const configTree = folderWith({ 'server.port': '2', 'server.address': 'tree' });
    const cwd = yaml('server: { port: 1, address: file }\nkafka: { clientId: file }');
    const settings = load({ configTree, cwd, env: { ...REQUIRED, SERVER_PORT: '3' } });
    expect([settings.server.port, settings.server.address, settings.kafka.clientId]).toEqual([3, 'tree', 'file']);
  });

  test('names the file in a problem', () => {
    const configTree = folderWith({ 'server/port': 'x' });
    expect(problems({ configTree })).toMatchObject([
      { path: 'server.port', source: `config tree file ${join(configTree, 'server', 'port')}` },
    ]);
  });

  test('names the file that cannot be read', () => {
    const configTree = folderWith({ 'server.port': '1' });
    const file = join(configTree, 'database.password');
    writeFileSync(file, Buffer.from([0xff]));
    expect(problems({ configTree })).toMatchObject([{ path: '--config-tree', given: configTree, source: file }]);
  });

  test('has to exist when it is named', () => {
    expect(problems({ configTree: 'nowhere' })).toMatchObject([
      { path: '--config-tree', message: 'names something that does not exist', given: 'nowhere' },
    ]);
    expect(problems({ env: { ...REQUIRED, CONFIG_TREE: 'nowhere' } })).toMatchObject([{ path: 'CONFIG_TREE' }]);
  });

  test('never shows a secret of a wrong form', () => {
    const configTree = folderWith({ 'database.url': 'mysql://u:hunter2@h/d', 'kafka.sasl.password': '' });
    const { DATABASE_URL: _replaced, ...env } = REQUIRED;
    expect(problems({ configTree, env }).map(describeProblem).join('\n')).not.toContain('hunter2');
  });
});
