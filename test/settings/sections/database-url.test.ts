import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parseIntoClientConfig } from 'pg-connection-string';
import { maskUrl } from '../../../settings/schema/mask-secrets.ts';
import { describeProblem, type Problem } from '../../../settings/schema/problem.ts';
import { readDatabaseUrl, UNFOLLOWED_PARAMETERS, URL_PARAMETERS } from '../../../settings/sections/database-url.ts';
import { checkSettings } from '../../../settings/settings.ts';

const SETTINGS = { kafka: { brokers: ['b:1'], topics: ['t'], groupId: 'g' } };

function problemsOf(url: string): readonly Problem[] {
  const checked = checkSettings({ ...SETTINGS, database: { url } });
  return checked.ok ? [] : checked.problems;
}

const withParameters = (parameters: string) => problemsOf(`postgresql://u:hunter2@h/d?${parameters}`);

describe('a part of a password that is not percent-encoded', () => {
  test.each([
    'postgresql://u:p@s3cret/w@host/db',
    'postgresql://u:p@s3cret/w@host:5432,other:5432/db?sslmode=verify-full',
    'postgresql://u:p@s3cret/w@host',
    'postgresql://u:p@s3cret/@host/db',
    'postgresql://s3cret/w@host/db',
    'postgresql://u:12/s3cret@host/db',
    'postgresql://u:12/34@s3cret@host/db',
    'postgresql://u:p@s3cret#w@host/db',
    'postgresql://u:12#s3cret@host/db',
    'postgresql://u:p@host/d#s3cret',
    'postgresql://u:p@s3cret?w@host/db',
    'postgresql://u:12?s3cret@host/db',
    'postgresql://u:p w@s3cret/w@host/db',
  ])('is taken for no host, and shown nowhere: %s', (url) => {
    const [problem, ...more] = problemsOf(url);
    expect(more).toEqual([]);
    expect(problem).toMatchObject({ path: 'database.url' });
    expect(JSON.stringify(problem)).not.toContain('s3cret');
    expect(maskUrl(url)).not.toContain('s3cret');
  });

  test.each([
    'postgresql://u:p%40s3cret%2Fw@host/db',
    'postgresql://u:p%2Fs3cret%23w%3F@host/db',
    'postgresql://u:p@s3cret@host/db',
    'postgresql://u:p@host/d%40b',
    'postgresql://host/db?user=u@server&password=p@s3cret/w',
  ])('is a part of the password where nothing else can be meant: %s', (url) => {
    expect(problemsOf(url)).toEqual([]);
    expect(readDatabaseUrl(url).map(({ host }) => host)).toEqual(['host']);
  });
});

describe('parameters of the database URL', () => {
  test.each([
    '',
    'sslmode=disable',
    'sslmode=no-verify',
    'sslmode=verify-full&sslrootcert=/etc/ca.crt&sslcert=/etc/tls.crt&sslkey=/etc/tls.key',
    'sslmode=verify-ca&sslrootcert=/etc/ca.crt&uselibpqcompat=true',
    'sslmode=require&uselibpqcompat=false',
    'sslmode=require&sslnegotiation=direct',
    'sslnegotiation=direct',
    'ssl=true',
    'host=/run/postgresql&port=5433&user=u&password=p',
    'options=-c%20search_path%3Dx',
    'sslmode=verify-full&channel_binding=require',
    'target_session_attrs=read-write',
  ])('are taken: %s', (parameters) => {
    expect(withParameters(parameters)).toEqual([]);
    expect(() =>
      parseIntoClientConfig(
        `postgresql://h/d?${parameters.replaceAll(/ssl(rootcert|cert|key)=[^&]*/g, `ssl$1=${import.meta.filename}`)}`,
      ),
    ).not.toThrow();
  });

  test.each([
    ['sslmod=verify-full', 'sslmod', 'sslmode'],
    ['SSLMode=verify-full', 'SSLMode', 'sslmode'],
    ['ssl_mode=verify-full', 'ssl_mode', 'sslmode'],
    ['sslrootcrt=/etc/ca.crt', 'sslrootcrt', 'sslrootcert'],
    ['ssl_cert=/etc/tls.crt', 'ssl_cert', 'sslcert'],
    ['pasword=hunter2', 'pasword', 'password'],
  ])('that are misspelt are refused with the right one: %s', (parameters, name, nearest) => {
    const [problem, ...more] = withParameters(parameters);
    expect(more).toEqual([]);
    expect(problem).toMatchObject({
      path: 'database.url',
      message: `has an unknown parameter ${name}`,
      allowed: `one of ${Object.keys(URL_PARAMETERS).join(', ')}`,
      nearest,
    });
  });

  test.each(['pgbouncer=true', 'max=5', 'pipeline=1', 'connectionString=postgres://elsewhere/d', '__proto__=x', '=x'])(
    'that resemble nothing are refused: %s',
    (parameters) => {
      expect(withParameters(parameters)).toMatchObject([{ message: expect.stringContaining('unknown parameter') }]);
    },
  );

  test.each(Object.entries(UNFOLLOWED_PARAMETERS))(
    'that are right elsewhere and not followed here are refused: %s',
    (name, instead) => {
      expect(withParameters(`sslmode=verify-full&${name}=5`)).toEqual([
        { path: 'database.url', message: `has the parameter ${name}, which is not followed`, allowed: instead },
      ]);
    },
  );

  test.each([
    ['sslmode=verify_full', 'sslmode=verify-full'],
    ['sslmode=verify-ful', 'sslmode=verify-full'],
    ['sslmode=allow', undefined],
    ['sslmode=', undefined],
    ['sslnegotiation=drect', 'sslnegotiation=direct'],
    ['ssl=false', undefined],
    ['ssl=no-verify', undefined],
    ['uselibpqcompat=1', undefined],
    ['port=0', undefined],
    ['port=70000', undefined],
    ['port=5432x', undefined],
    ['sslrootcert=', undefined],
    ['host=', undefined],
    ['host=a,b', undefined],
    ['target_session_attrs=standby', undefined],
    ['target_session_attrs=readwrite', 'target_session_attrs=read-write'],
    ['channel_binding=required', 'channel_binding=require'],
  ])('have values that are known: %s', (parameters, nearest) => {
    const [name = ''] = parameters.split('=');
    const [problem, ...more] = withParameters(parameters);
    expect(more).toEqual([]);
    expect(problem).toMatchObject({
      path: 'database.url',
      message: `has a parameter ${name} with a value that is not known`,
    });
    expect(problem?.nearest).toBe(nearest);
  });

  test('are given once', () => {
    expect(withParameters('sslmode=verify-full&sslmode=disable')).toMatchObject([
      { message: 'has the parameter sslmode more than once' },
    ]);
  });

  test.each([
    ['sslmode=verify-ca&uselibpqcompat=true', 'sslrootcert'],
    ['sslmode=disable&sslnegotiation=direct', 'sslnegotiation'],
    ['ssl=0&sslnegotiation=direct', 'sslnegotiation'],
    ['sslmode=disable&channel_binding=require', 'channel_binding=require and no TLS'],
  ])('that pg refuses together are refused before: %s', (parameters, word) => {
    expect(withParameters(parameters)).toMatchObject([{ message: expect.stringContaining(word) }]);
  });

  test('are all reported at once', () => {
    const messages = withParameters('sslmod=a&require_auth=require&port=x').map(({ message }) => message);
    expect(messages).toEqual([
      'has an unknown parameter sslmod',
      'has the parameter require_auth, which is not followed',
      'has a parameter port with a value that is not known',
    ]);
  });
});

test.each(
  ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full']
    .map((mode): [string, boolean] => [`sslmode=${mode}`, mode !== 'disable'])
    .concat([
      ['ssl=true', true],
      ['ssl=1', true],
      ['ssl=0', false],
      ['', false],
    ]),
)('a URL with %s is taken, and pg connects with TLS: %s', (parameters, isTls) => {
  expect(withParameters(parameters)).toEqual([]);
  expect(Boolean(parseIntoClientConfig(`postgresql://u@h/d?${parameters}`).ssl)).toBe(isTls);
});

describe('a URL with a blank, or a % that begins no code', () => {
  test.each([
    ['postgresql://u:100%safe@h/d', '100%safe'],
    ['postgresql://u:50%@h/d', '50%'],
    ['postgresql://u:a b@h/d', 'a b'],
  ])('is taken as pg takes it: %s', (url, password) => {
    expect(problemsOf(url)).toEqual([]);
    expect(parseIntoClientConfig(url).password).toBe(password);
  });

  test('has the parameters that pg reads, and no others', () => {
    expect(problemsOf('postgresql://u:a b@h/d?ssl%6Dode=verify-full')).toMatchObject([
      { message: expect.stringContaining('unknown parameter') },
    ]);
    expect(problemsOf('postgresql://u:ab@h/d?ssl%6Dode=verify-full')).toEqual([]);
  });
});

test('a port that there cannot be is told, and so is how a % is written', () => {
  const [problem] = problemsOf('postgresql://u:hunter2@h:99999/d');
  expect(problem).toMatchObject({ message: 'is not a URL', allowed: expect.stringContaining('port up to 65535') });
  expect(problem?.allowed).toContain('% as %25');
});

test('a URL whose user, password or database is encoded wrongly is no URL', () => {
  for (const url of ['postgresql://u:%E0%A4@h/d', 'postgresql://%E0@h/d', 'postgresql://h/%E0%A4']) {
    expect(problemsOf(url)).toMatchObject([{ path: 'database.url', message: 'is not a URL' }]);
  }
});

test.each([
  'sslmod=hunter2',
  'sslmode=hunter2',
  'channel_binding=hunter2',
  'password=hunter2&password=hunter2',
  'port=hunter2',
  'hunter2',
])('neither the password nor the value of a parameter is shown: %s', (parameters) => {
  const named = parameters === 'hunter2' ? withParameters('x1@hunter2') : withParameters(parameters);
  expect(named).not.toEqual([]);
  expect(named.map(describeProblem).join()).not.toContain('hunter2');
});

test.each([
  'postgresql://u:12?swordfish@h/d',
  'postgresql://u:12?swordfish=x@h/d',
  'postgresql://u:12?a=1&swordfish@h/d',
])('a password with a question mark is not taken for names of parameters: %s', (url) => {
  const problems = problemsOf(url);
  expect(problems).not.toEqual([]);
  expect(problems.map(describeProblem).join()).not.toContain('swordfish');
});

test.each([...Object.keys(URL_PARAMETERS), ...Object.keys(UNFOLLOWED_PARAMETERS)])(
  'the parameter %s is in docs/configuration.md',
  (name) => {
    const text = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'configuration.md'), 'utf8');
    const [, section = ''] = /\n### The database's URL\n([\s\S]*?)\n##/.exec(text) ?? [];
    expect(section).toContain(`\`${name}\``);
  },
);

describe('several hosts', () => {
  const hosts = (url: string) =>
    readDatabaseUrl(url).map(({ host, username, pathname, search }) => [host, username, pathname, search]);

  test('are taken in their order, each with its port, and with all else of the URL', () => {
    const url = 'postgresql://u:p,w@a:5432,[::1]:5433,c/d?sslmode=verify-full';
    expect(problemsOf(url)).toEqual([]);
    expect(hosts(url)).toEqual(['a:5432', '[::1]:5433', 'c'].map((host) => [host, 'u', '/d', '?sslmode=verify-full']));
  });

  test.each([
    'postgresql://u@a:5432,/d',
    'postgresql://u@,b/d',
    'postgresql://u@a,:5432/d',
    'postgresql://u@a,b:99999/d',
  ])('are no URL where one is empty or has no port that there can be: %s', (url) => {
    expect(problemsOf(url)).toMatchObject([{ path: 'database.url', message: 'is not a URL' }]);
  });

  test('are not named a second time by a parameter', () => {
    expect(problemsOf('postgresql://u@a,b/d?host=c')).toMatchObject([
      { message: expect.stringContaining('several hosts') },
    ]);
    expect(problemsOf('postgresql://u@a,b/d?port=1')).toMatchObject([
      { message: expect.stringContaining('several hosts') },
    ]);
  });
});

describe('database.rdsIam', () => {
  const problemsWith = (url: string, database: Readonly<Record<string, unknown>> = {}) => {
    const checked = checkSettings({ ...SETTINGS, database: { url, rdsIam: { enabled: true }, ...database } });
    return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path} ${message}`);
  };

  test('wants TLS and a user', () => {
    expect(problemsWith('postgresql://u@h/d?sslmode=verify-full')).toEqual([]);
    expect(problemsWith('postgresql://h/d', { user: 'u', tls: {} })).toEqual([]);
    expect(problemsWith('postgresql://h/d')).toEqual([
      'database.rdsIam.enabled has no TLS to send the token over',
      'database.rdsIam.enabled has no user to log in as',
    ]);
  });

  test.each([
    ['postgresql://u:p@h/d?sslmode=verify-full', {}],
    ['postgresql://u@h/d?sslmode=verify-full&password=p', {}],
    ['postgresql://u@h/d?sslmode=verify-full', { password: 'p' }],
  ])('has no password beside it: %s %j', (url, database) => {
    expect(problemsWith(url, database)).toEqual(['database.rdsIam.enabled has a password beside it']);
  });

  test('switched off changes nothing', () => {
    expect(problemsWith('postgresql://h/d', { rdsIam: { enabled: false, region: 'eu-central-1' } })).toEqual([]);
  });
});
