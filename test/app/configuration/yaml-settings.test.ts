// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the placeholders of the configuration
import { describe, expect, test } from '@jest/globals';
import { load, problems, REQUIRED, yaml } from './loading.ts';

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
    expect(load({ cwd: yaml('management.health.kafka.in-root: true') }).management.health.kafka['in-root']).toBe(true);
    expect(
      load({ cwd: yaml('management: { health.kafka: { in-root: true } }') }).management.health.kafka['in-root'],
    ).toBe(true);
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
