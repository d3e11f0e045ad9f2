// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the placeholders of the configuration
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { describeProblem } from '../../../settings/schema/problem.ts';
import { folderWith } from './folder.ts';
import { load, problems, REQUIRED, yaml } from './loading.ts';

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
