import type { Rule } from './check.ts';
import { milliseconds } from './duration.ts';
import type { Settings } from './settings.ts';

interface Credential {
  readonly username?: string;
  readonly password?: string;
}

/** A user without a password, or the other way round, is a mistake and not a choice. */
const complete = (path: string, read: (settings: Settings) => Credential): Rule<Settings> => ({
  reads: [path],
  find: (settings) => {
    const { username, password } = read(settings);
    if ((username === undefined) === (password === undefined)) {
      return [];
    }
    const [missing, given] = username === undefined ? ['username', 'password'] : ['password', 'username'];
    const message = `is missing beside ${path}.${given}`;
    return [{ path: `${path}.${missing}`, message, allowed: 'both of them, or neither' }];
  },
});

const CLIENT = 'spring.boot.admin.client';

const LEAST_PERIOD = '1s';

const adminPeriod: Rule<Settings> = {
  reads: [`${CLIENT}.period`],
  find: ({ spring }) => {
    const { period } = spring.boot.admin.client;
    const allowed = `a duration from ${LEAST_PERIOD} to 1h`;
    return milliseconds(period) < milliseconds(LEAST_PERIOD) || milliseconds(period) > milliseconds('1h')
      ? [{ path: `${CLIENT}.period`, message: 'is out of range', given: period, allowed }]
      : [];
  },
};

/** The server knows user and password only: there is no way to tell it a token. */
const sentCredentialsExist: Rule<Settings> = {
  reads: [`${CLIENT}.instance.send-credentials`, 'management.security'],
  find: ({ spring, management }) => {
    const { 'send-credentials': isSent } = spring.boot.admin.client.instance;
    return isSent && management.security.username === undefined
      ? [
          {
            path: `${CLIENT}.instance.send-credentials`,
            message: 'has nothing to send',
            given: isSent,
            allowed: 'false, or management.security.username and .password beside it',
          },
        ]
      : [];
  },
};

/** What must fit together wherever somebody has to show who they are. */
export const ACCESS_RULES: readonly Rule<Settings>[] = [
  complete('management.security', ({ management }) => management.security),
  complete(CLIENT, ({ spring }) => spring.boot.admin.client),
  adminPeriod,
  sentCredentialsExist,
];
