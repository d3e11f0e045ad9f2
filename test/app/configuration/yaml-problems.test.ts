// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the placeholders of the configuration
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { describeProblem } from '../../../settings/schema/problem.ts';
import { load, problems, REQUIRED, yaml } from './loading.ts';

describe('a problem in the YAML file', () => {
  test.each([
    ['a value', 'server:\n  port: x', 'server.port', 'application.yml:2:9'],
    ['an item', 'kafka:\n  clientId: 1\n  topics:\n    - a\n    - b c', 'kafka.topics[1]', 'application.yml:5:7'],
    ['an unknown key', 'server:\n  prt: 1', 'server.prt', 'application.yml:2:8'],
    ['an unknown section', 'jdbc:\n  kafka:\n    x: 1', 'jdbc', 'application.yml:1:1'],
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

  test.each([
    ['under a value', 'kafka:\n  brokers: a:1\n    groupId: b\n  clientId: c', 'this line has a value already', '2:12'],
    ['one too few', 'kafka:\n  brokers: a:1\n groupId: b\n clientId: c', 'the indentation does not fit', '3:1'],
    ['one too many', 'kafka:\n   brokers: a:1\n  groupId: b\n  clientId: c', 'the indentation does not fit', '3:1'],
    ['at the left edge', 'kafka:\nbrokers: a:1\n  groupId: b\n  clientId: c', 'this line has a value already', '2:10'],
    ['of an item', 'kafka:\n  topics:\n      - a\n    - b\n    - c', 'the indentation does not fit', '4:5'],
    [
      'of a section',
      '  kafka:\n    clientId: a\nserver:\n  port: 1\nlogging:\n  level: info',
      'something is here',
      '3:1',
    ],
  ])('is one problem where one line is indented wrong: %s', (_name, text, reason, place) => {
    expect(problems({ cwd: yaml(text) })).toMatchObject([
      { message: expect.stringContaining(reason), source: `application.yml:${place}` },
    ]);
  });

  test('is one problem beside another mistake that is no matter of lines', () => {
    const found = problems({ cwd: yaml('kafka:\n  clientId: "\\q"\n   groupId: b\n  brokers: c') });
    expect(found.map(({ source }) => source)).toEqual(['application.yml:2:14', 'application.yml:3:1']);
  });

  test.each([
    [
      'a section',
      'kafka:\nbrokers: a:1\ngroupId: b\nclient-id: c\nserver:\n  port: 1',
      'kafka',
      'brokers, groupId, clientId',
    ],
    ['an inner section', 'kafka:\n  sasl:\n  username: a\n  password: b', 'kafka.sasl', 'username, password'],
  ])('is one problem where the keys of %s are not indented', (_name, text, path, keys) => {
    expect(problems({ cwd: yaml(text) })).toMatchObject([{ path, message: expect.stringContaining(`(${keys})`) }]);
  });

  test('is one at most, whichever line is indented two blanks too deep or too little', () => {
    const lines = `kafka:
  brokers: a:1
  groupId: g
  ssl: true
  tls:
    ca: -----BEGIN
  sasl:
    mechanism: plain
    username: u
    password: p
database:
  url: postgresql://h/d
  poolSize: 3
server:
  port: 8081
logging:
  level: info`.split('\n');
    const moved = lines.flatMap((line, index) =>
      [`  ${line}`, line.replace(/^ {2}/, '')].map((each) => lines.with(index, each)),
    );
    const counts = moved.map((text) => [text.join('\n'), problems({ cwd: yaml(text.join('\n')) }).length] as const);
    expect(counts.filter(([, count]) => count > 1)).toEqual([]);
    expect(counts.filter(([, count]) => count === 1).length).toBeGreaterThan(12);
  });

  test('is none where an empty section is above another one', () => {
    expect(load({ cwd: yaml('kafka:\nserver:\n  port: 1') }).server.port).toBe(1);
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
