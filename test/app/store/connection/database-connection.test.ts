import { describe, expect, test } from '@jest/globals';
import type { PoolClient } from 'pg';
import {
  type DatabaseHost,
  databaseHosts,
  firstHost,
  requireSession,
} from '../../../../app/store/connection/database-connection.ts';
import { checkedSettings } from '../../../settings/checked-settings.ts';

/** The hosts of these settings. */
const hostsOf = (database: Readonly<Record<string, unknown>>): readonly DatabaseHost[] =>
  databaseHosts(checkedSettings({ database }).database);

const URL = 'postgresql://of_url:in_url@one:5433/shop';

test('every connection notices a host that is gone, and has a name', () => {
  expect(hostsOf({ url: URL, connectTimeout: '3s' })).toMatchObject([
    {
      ...{ name: 'one:5433', session: 'any', isBound: false },
      config: {
        ...{ host: 'one', port: 5433, database: 'shop', user: 'of_url', password: 'in_url' },
        ...{ application_name: 'stream-consumer', connectionTimeoutMillis: 3_000 },
        ...{ keepAlive: true, keepAliveInitialDelayMillis: 10_000, enableChannelBinding: false },
      },
    },
  ]);
});

test('user and password of the settings win over those of the URL', () => {
  const [host] = hostsOf({ url: URL, user: 'of_settings', password: 'in_settings' });
  expect(host?.config).toMatchObject({ user: 'of_settings', password: 'in_settings' });
});

test.each([
  ['', false, false],
  ['?sslmode=require', true, false],
  ['?sslmode=require&channel_binding=disable', false, false],
  ['?sslmode=require&channel_binding=require', true, true],
])('with "%s" a login may be bound to the certificate: %p, and has to be: %p', (...of) => {
  const [parameters, isBoundWhereItCan, isBound] = of;
  const [host] = hostsOf({ url: `${URL}${parameters}` });
  expect([host?.config.enableChannelBinding, host?.isBound]).toEqual([isBoundWhereItCan, isBound]);
});

test.each([
  ['one/shop', ['any']],
  ['one,two/shop', ['read-write', 'read-write']],
  ['one,two/shop?target_session_attrs=primary', ['primary', 'primary']],
  ['one,two/shop?target_session_attrs=any', ['any', 'any']],
  ['one/shop?target_session_attrs=read-write', ['read-write']],
])('sessions at postgresql://%s are %p', (rest, sessions) => {
  expect(hostsOf({ url: `postgresql://u:p@${rest}` }).map(({ session }) => session)).toEqual(sessions);
});

const [ONE, TWO] = hostsOf({ url: 'postgresql://u:p@one,two:5433/shop' }) as readonly [DatabaseHost, DatabaseHost];

describe('the first host that takes a connection', () => {
  test('is the answer, and no host behind it is asked', async () => {
    const asked: number[] = [];
    const connect = async ({ name }: DatabaseHost, nth: number) => {
      asked.push(nth);
      return nth === 1 ? name : Promise.reject(new Error('away'));
    };
    expect(await firstHost([ONE, TWO, ONE], connect)).toBe('two:5433');
    expect(asked).toEqual([0, 1]);
  });

  test('is none: the error of the only one, or those of all, each with its host', async () => {
    const failure = new Error('away');
    await expect(firstHost([ONE], () => Promise.reject(failure))).rejects.toBe(failure);
    const refused = await firstHost([ONE, TWO], (_, nth) => Promise.reject(new Error(`away ${nth}`))).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(AggregateError);
    expect(refused).toMatchObject({
      message: `${ONE.name}: away 0; two:5433: away 1`,
      errors: [new Error('away 0'), new Error('away 1')],
    });
  });
});

describe('what a session has to be', () => {
  /** A client whose queries have this answer. */
  function answering(answer: string | null | undefined) {
    const asked: unknown[] = [];
    const query = async (of: unknown) => {
      asked.push(of);
      return { rows: answer === undefined ? [] : [[answer]] };
    };
    return { client: { query } as unknown as PoolClient, asked };
  }

  const hostFor = (session: DatabaseHost['session']): DatabaseHost => ({ ...ONE, session });

  test('is not asked where any will do', async () => {
    const { client, asked } = answering('on');
    await requireSession(client, hostFor('any'));
    expect(asked).toEqual([]);
  });

  test.each([
    ['read-write', 'SHOW transaction_read_only', 'the session is read-only: this server takes no writes now'],
    ['primary', "SELECT CASE WHEN pg_is_in_recovery() THEN 'on' END", 'this server is a standby now'],
  ] as const)('is asked by one statement where it has to be %s', async (session, text, refusal) => {
    for (const answer of ['off', null, undefined]) {
      const { client, asked } = answering(answer);
      await requireSession(client, hostFor(session));
      expect(asked).toEqual([{ text, rowMode: 'array' }]);
    }
    const { client, asked } = answering('on');
    await expect(requireSession(client, hostFor(session), 500)).rejects.toMatchObject({
      ...{ message: refusal, code: '25006' },
    });
    expect(asked).toEqual([{ text, rowMode: 'array', query_timeout: 500 }]);
  });
});
