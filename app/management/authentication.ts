import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '../../settings/settings.ts';
import { rateLimitedWarning } from '../logging/logger.ts';
import { sendError } from './error-answer.ts';

type Security = Settings['management']['security'];

/** Whether a request may see everything: no credential is set, or it has the right token, or user and password. */
export type IsAuthorized = (request: Pick<FastifyRequest, 'headers'>) => boolean;

const REALM = 'realm="actuator"';

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares texts of any length in a time that depends on neither. */
const equals = (given: string, expected: string): boolean => timingSafeEqual(digestOf(given), digestOf(expected));

/** The parts of an Authorization header, the scheme in lower case. */
function parseAuthorization(header: string | undefined): { readonly scheme: string; readonly value: string } {
  const [, scheme = '', value = ''] = /^([^ ]+) +([^ ]+) *$/.exec(header ?? '') ?? [];
  return { scheme: scheme.toLowerCase(), value };
}

/** What the Authorization header of each scheme has to hold. */
function expectedBy({ token, username, password }: Security): ReadonlyMap<string, string> {
  const expected = new Map<string, string>();
  if (token !== undefined) {
    expected.set('bearer', token);
  }
  if (username !== undefined) {
    expected.set('basic', `${username}:${password}`);
  }
  return expected;
}

/**
 * Checks bearer tokens and Basic credentials, in the same time for every wrong one.
 *
 * @param security asked at each request: credentials may change while the process runs
 */
export function credentialCheck(security: () => Security): IsAuthorized {
  return ({ headers }) => {
    const expected = expectedBy(security());
    const { scheme, value } = parseAuthorization(headers.authorization);
    const right = expected.get(scheme);
    const given = scheme === 'basic' ? Buffer.from(value, 'base64').toString('utf8') : value;
    return expected.size === 0 || (right !== undefined && equals(given, right));
  };
}

function challenges({ token, username }: Security): string[] {
  return [
    ...(token === undefined ? [] : [`Bearer ${REALM}`]),
    ...(username === undefined ? [] : [`Basic ${REALM}, charset="UTF-8"`]),
  ];
}

/**
 * Answers 401 to every request without a right credential, also to those for paths that are not served, and warns of
 * them once a minute.
 *
 * @param isOpen whether a route, given as it was registered, needs no credential; `undefined` where there is none.
 */
export function requireCredential(
  app: FastifyInstance,
  security: () => Security,
  isAuthorized: IsAuthorized,
  isOpen: (route: string | undefined) => boolean,
): void {
  const warn = rateLimitedWarning(app, 'requests without the right credential answered with 401');
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const mayPass = isAuthorized(request) || isOpen(request.routeOptions.url);
    if (mayPass) {
      return;
    }
    warn(request.socket.remoteAddress);
    return sendError(request, reply.header('www-authenticate', challenges(security())), 401);
  });
}
