import type { Server } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { ManagementEndpoint } from '../../contract/actuator.ts';
import { additionalHealthPaths } from '../../settings/health.ts';
import type { Settings } from '../../settings/settings.ts';
import { accessOf, guard, type IsAuthorized } from './authentication.ts';
import { requireCertificate } from './certificate.ts';
import { CertificateRenewal } from './certificate-renewal.ts';
import { createServer, type ServerOptions } from './server.ts';

/** A server without routes, and what belongs to it from its start to its end. */
export interface GuardedServer {
  readonly app: FastifyInstance;
  readonly isAuthorized: IsAuthorized;
  /** `undefined` without TLS. */
  readonly renewal: CertificateRenewal | undefined;
}

/**
 * The server with its certificate and its guard: with `management.security` all but the health is 401 without a right
 * credential, and the health itself is left to its route.
 *
 * @throws Error when the certificate cannot be used
 */
export function guardedServer(
  { server, logging, management }: Pick<Settings, 'server' | 'logging' | 'management'>,
  { healthPath }: ManagementEndpoint,
  log: Pick<ServerOptions, 'destination' | 'onLogLine'>,
): GuardedServer {
  const certificate = server.ssl && requireCertificate(server.ssl);
  const isAuthorized = accessOf(management.security);
  const additional = additionalHealthPaths({ management }).map(({ path }) => path);
  const isHealth = (route = '') =>
    route === healthPath || route.startsWith(`${healthPath}/`) || additional.includes(route);
  const app = createServer({
    logging,
    certificate,
    guard: (guarded) => guard(guarded, management.security, isAuthorized, isHealth),
    ...log,
  });
  const renewal =
    certificate &&
    server.ssl &&
    new CertificateRenewal(app.server as unknown as Server, server.ssl, certificate, app.log);
  return { app, isAuthorized, renewal };
}
