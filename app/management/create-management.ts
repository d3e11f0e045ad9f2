import type { AddressInfo } from 'node:net';
import type { Server } from 'node:tls';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type ManagementEndpoint, managementEndpoint } from '../../contract/actuator.ts';
import type { SchemaRequestOutcome } from '../../contract/metrics/definition.ts';
import { additionalHealthPaths } from '../../settings/sections/health.ts';
import { exposedEndpoints } from '../../settings/sections/management.ts';
import type { Settings } from '../../settings/settings.ts';
import { requireCertificate } from '../credentials/certificate.ts';
import { CertificateRenewal } from '../credentials/certificates-in-use.ts';
import { createHealth } from '../health/create-health.ts';
import type { DatabaseCheck, KafkaHealthCheck } from '../health/health-indicators.ts';
import type { ClientListener } from '../kafka/client/client-listener.ts';
import type { PoolMetrics } from '../metrics/consumer/connection-pool.ts';
import { type CountedTopics, createMetrics } from '../metrics/create-metrics.ts';
import type { LogEvents } from '../metrics/process/process.ts';
import type { ProductBuild } from '../metrics/process/product-build.ts';
import type { PoolFigures } from '../store/connection/database-pool.ts';
import type { LetterReport } from '../store/tables/kept-letters.ts';
import type { ConsumerReport } from '../stream/partition/consumer-state.ts';
import type { RecordSink } from '../stream/ports/record-sink.ts';
import type { StreamListener } from '../stream/ports/stream-listener.ts';
import { credentialCheck, type IsAuthorized, requireCredential } from './authentication.ts';
import { measureRequests, serveEndpoints } from './endpoints.ts';
import { closeWithin, listen } from './listening.ts';
import { ConsumerPage, pageRoute } from './page-route.ts';
import { createServer } from './server.ts';
import { AdminRegistration, adminInstance } from './spring-boot-admin.ts';

/** The sources of the operational interface; its functions return at once and do not throw. */
export interface ManagementOptions {
  readonly settings: Pick<
    Settings,
    'server' | 'kafka' | 'schemaRegistry' | 'consumer' | 'management' | 'spring' | 'info'
  >;
  /** The same with the credentials of the moment; asked at each request and at each registration. */
  readonly current: () => ManagementOptions['settings'];
  /** When the client's certificates expire, by the system that they are shown to. */
  readonly clientCertificates: () => ReadonlyMap<string, Date>;
  readonly build: ProductBuild;
  readonly topics: CountedTopics & { readonly settings: Pick<Settings, 'kafka' | 'tables'> };
  readonly report: () => ConsumerReport;
  readonly pool: () => PoolFigures;
  /** Schemas of the registry that are kept; `null` where the settings have no registry. */
  readonly schemas: () => number | null;
  /** What is known of the dead letters in the table. */
  readonly letters: () => LetterReport;
  readonly checkDatabase: DatabaseCheck;
  readonly checkKafka: KafkaHealthCheck;
  /** The log of the process. */
  readonly logger: FastifyBaseLogger;
  /** What has counted the lines of that log. */
  readonly logEvents: Pick<LogEvents, 'sources'>;
}

/** The operational interface: HTTP server, health and metrics. */
export interface Management {
  /** Feeds the metrics with the events of the pipeline. */
  readonly listener: StreamListener;
  /** The sink, which feeds the metrics with the times of its writes. */
  measured(sink: RecordSink): RecordSink;
  /** Feeds the metrics with the events of the Kafka client. */
  readonly client: ClientListener;
  /** Feeds the metrics with the times of the writing pool's connections. */
  readonly connections: Pick<PoolMetrics, 'observe' | 'timedOut'>;
  /** Counts a connection to PostgreSQL that could not be opened or broke while in use. */
  databaseConnectionFailed(): void;
  /** Counts an answer of the schema registry, or one that did not come. */
  schemaAnswered(outcome: SchemaRequestOutcome): void;
  /**
   * Begins to check and to listen.
   * @throws ListenError when the address cannot be listened on
   */
  start(): Promise<AddressInfo>;
  /** From now on `readinessState` is UP. */
  ready(): void;
  /** From now on `readinessState` is OUT_OF_SERVICE for good, and not being UP counts as no failure. */
  draining(): void;
  /** Finishes the requests under way, for 2 s at most, and ends; nothing keeps the process alive afterwards. */
  stop(): Promise<void>;
}

/** Longest time, in milliseconds, that requests under way get when the server ends. */
const CLOSE_TIMEOUT_MS = 2_000;

/** Puts the operational interface together; nothing runs before {@link Management.start}. */
export function createManagement(options: ManagementOptions): Management {
  return assembleManagement(options).management;
}

/** Registers at Spring Boot Admin where the settings name a server. */
function register(current: ManagementOptions['current'], port: number, logger: FastifyBaseLogger) {
  const { client } = current().spring.boot.admin;
  if (client.url.length === 0) {
    return undefined;
  }
  const startup = new Date(Date.now() - process.uptime() * 1_000);
  const login = () => current().spring.boot.admin.client;
  const registration = new AdminRegistration(client, login, () => adminInstance(current(), port, startup), logger);
  registration.start();
  return registration;
}

/** As {@link createManagement}, with the server itself, so that a test can send requests without a network. */
export function assembleManagement(options: ManagementOptions): { management: Management; app: FastifyInstance } {
  const { settings, current, clientCertificates, build, logger } = options;
  const endpoint = managementEndpoint(settings);
  const health = createHealth(options);
  const metrics = createMetrics({
    ...options,
    healthFailures: () => health.evaluator.consecutiveFailures,
    healthStatuses: () => health.endpoint.componentStatuses(),
    certificates: () =>
      new Map([...(renewal ? [['server', renewal.expiresAt] as const] : []), ...clientCertificates()]),
  });
  const { app, isAuthorized, renewal } = guardedServer(options, endpoint);
  measureRequests(app, endpoint, metrics.http);
  // Before the other routes: for the page's constraint the router adds all of its routes anew, 2 % of the start.
  const page = servedPage(app, new ConsumerPage({ ...options, endpoint, health, figures: metrics.figures }), settings);
  serveEndpoints(app, { settings, build, endpoint, health: health.endpoint, metrics, isAuthorized });
  let registration: AdminRegistration | undefined;
  const management: Management = {
    listener: metrics.listener,
    measured: (sink) => metrics.listener.measured(sink),
    client: metrics.client,
    connections: metrics.connections,
    databaseConnectionFailed: metrics.databaseConnectionFailed,
    schemaAnswered: metrics.schemaAnswered,
    start: async () => {
      const address = await listen(app, endpoint);
      void metrics.start();
      metrics.startup.started();
      health.start();
      page?.start();
      renewal?.start();
      registration = register(current, address.port, logger);
      return address;
    },
    ready: () => {
      health.readiness.ready();
      metrics.startup.ready();
    },
    draining: () => {
      health.readiness.draining();
      void registration?.end();
    },
    stop: async () => {
      await registration?.end();
      renewal?.stop();
      page?.stop();
      health.stop();
      metrics.stop();
      await closeWithin(app, CLOSE_TIMEOUT_MS);
    },
  };
  return { management, app };
}

/** Serves the page, unless the settings say no, or the health that it shows answers nobody. */
function servedPage(
  app: FastifyInstance,
  page: ConsumerPage,
  settings: ManagementOptions['settings'],
): ConsumerPage | undefined {
  if (!settings.management.page.enabled || !exposedEndpoints(settings).has('health')) {
    return undefined;
  }
  pageRoute(app, () => page.write());
  return page;
}

/** A server without routes, with its authentication and certificate renewal. */
interface GuardedServer {
  readonly app: FastifyInstance;
  readonly isAuthorized: IsAuthorized;
  /** `undefined` without TLS. */
  readonly renewal: CertificateRenewal | undefined;
}

/**
 * The server with its certificate and authentication: with `management.security` everything but the health is 401
 * without a right credential, and the health's own route decides what it shows.
 *
 * @throws Error when the certificate cannot be used
 */
function guardedServer(
  { settings: { server, management }, current, logger }: Pick<ManagementOptions, 'settings' | 'current' | 'logger'>,
  { healthPath }: ManagementEndpoint,
): GuardedServer {
  const certificate = server.ssl && requireCertificate(server.ssl);
  const security = () => current().management.security;
  const isAuthorized = credentialCheck(security);
  const additional = additionalHealthPaths({ management }).map(({ path }) => path);
  const isHealth = (route = '') =>
    route === healthPath || route.startsWith(`${healthPath}/`) || additional.includes(route);
  const app = createServer({
    logger,
    certificate,
    guard: (guarded) => requireCredential(guarded, security, isAuthorized, isHealth),
  });
  const renewal =
    certificate &&
    server.ssl &&
    new CertificateRenewal(app.server as unknown as Server, server.ssl, certificate, logger);
  return { app, isAuthorized, renewal };
}
