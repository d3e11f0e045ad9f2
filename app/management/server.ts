import { METHODS } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, {
  type ConnectionError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Certificate } from '../credentials/certificate.ts';
import { limitConnections } from './connection-limit.ts';
import { answerClientError, answerPlainHttp, sendError, sendNotFound } from './error-answer.ts';

/** Limits against clients that are slow, many or malicious; times in milliseconds, sizes in bytes. */
const LIMITS = {
  /** Request line and headers together; beyond it 431. */
  headerBytes: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  /** How often the two timeouts are checked; with Node's 30 s a slow client would stay that much longer. */
  connectionsCheckingInterval: 5_000,
  /** Silence on a connection in the middle of a request. */
  connectionTimeout: 30_000,
  keepAliveTimeout: 60_000,
  metricNameCharacters: 1_024,
} as const;

/** No route has a schema, so no compiler is loaded: they are a fifth of the code that Fastify loads at the start. */
const NO_ROUTE_SCHEMAS = {
  compilersFactory: {
    buildValidator: () => refuseSchema,
    buildSerializer: () => refuseSchema,
  },
};

function refuseSchema(): never {
  throw new Error("routes have no schemas: the image leaves the compilers of Fastify's out");
}

/** Methods that Node knows and Fastify does not; without CONNECT, for which Node closes the connection itself. */
const extraMethods = (app: FastifyInstance) =>
  METHODS.filter((method) => method !== 'CONNECT' && !app.supportedMethods.includes(method));

/** Node's own options of a server, with TLS where there is a certificate. */
function serverOptions(certificate: Certificate | undefined) {
  const { headersTimeout, connectionsCheckingInterval } = LIMITS;
  const http = {
    maxHeaderSize: LIMITS.headerBytes,
    headersTimeout,
    connectionsCheckingInterval,
    // refuseDoubtfulHost() answers a request without one, as Node's own refusal has no body.
    requireHostHeader: false,
  };
  if (certificate === undefined) {
    return { http };
  }
  const { cert, key } = certificate;
  return { https: { ...http, cert, key, handshakeTimeout: LIMITS.headersTimeout } };
}

/** The options of {@link createServer}. */
export interface ServerOptions {
  /** The process's log. */
  readonly logger: FastifyInstance['log'];
  /**
   * The certificate for HTTPS.
   * @default HTTP
   */
  readonly certificate?: Certificate | undefined;
  /**
   * Adds hooks that see a request before everything else.
   * @default none
   */
  readonly guard?: (app: FastifyInstance) => void;
}

/**
 * The HTTP server without routes: it reads no request bodies, answers every error as Spring Boot does, without message
 * and stack trace. A request is logged at debug.
 */
export function createServer({ logger, certificate, guard }: ServerOptions): FastifyInstance {
  const app: FastifyInstance = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    ...serverOptions(certificate),
    schemaController: NO_ROUTE_SCHEMAS,
    requestTimeout: LIMITS.requestTimeout,
    connectionTimeout: LIMITS.connectionTimeout,
    keepAliveTimeout: LIMITS.keepAliveTimeout,
    forceCloseConnections: 'idle',
    // A request under way while the server ends gets its own answer, not a bare 503.
    return503OnClosing: false,
    routerOptions: {
      maxParamLength: LIMITS.metricNameCharacters,
      querystringParser: (query) => ({ ...queryParameters(query) }),
    },
    rewriteUrl: ({ url = '/' }) => withoutPathParameters(url),
    clientErrorHandler: refuseUnread,
    frameworkErrors: (error, request, reply) => void sendError(request, reply, error.statusCode ?? 400),
  });
  answerPlainHttp(app, limitConnections(app));
  for (const method of extraMethods(app)) {
    app.addHttpMethod(method, { hasBody: true });
  }
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onRequest', refuseDoubtfulHost);
  guard?.(app);
  addErrorAnswers(app);
  return app;
}

function refuseUnread(this: FastifyInstance, error: ConnectionError, socket: Socket): void {
  this.log.debug({ code: error.code, peer: socket.remoteAddress }, 'no request could be read');
  answerClientError(error, socket);
}

/** RFC 9112, section 3.2: servers that read different Hosts out of one request would disagree about it. */
async function refuseDoubtfulHost(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  const { rawHeaders, httpVersion } = request.raw;
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  const isClear = hosts === 1 || (hosts === 0 && httpVersion === '1.0');
  return isClear ? undefined : sendError(request, reply.header('connection', 'close'), 400);
}

/** Spring ignores path parameters (`/health;a=1`); the query is left as it is. */
function withoutPathParameters(url: string): string {
  return url.replace(/^[^?]*/, (path) => path.replace(/;[^/]*/g, ''));
}

function addErrorAnswers(app: FastifyInstance): void {
  app.setNotFoundHandler(sendNotFound);
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) {
      request.log.error({ err: error, method: request.method, url: request.url }, 'a request failed');
    }
    return sendError(request, reply, status);
  });
  app.addHook('onRequest', async (request, reply) => {
    // An encoded slash could be read as part of a name or as the end of it; Tomcat refuses it, and so does this.
    if (/^[^?]*%2f/i.test(request.url)) {
      return sendError(request, reply, 400);
    }
    // Before Fastify looks at a body, which it would refuse for its type.
    return request.is404 ? sendNotFound(request, reply) : undefined;
  });
  app.addHook('onResponse', async ({ method, url }, reply) => {
    app.log.debug({ method, url, status: reply.statusCode, milliseconds: reply.elapsedTime }, 'answered');
  });
}

/** Parameters of a query by their names; a repeated one is a list. */
type QueryParameters = Readonly<Record<string, string | readonly string[]>>;

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Parses a query. A parameter that cannot be percent-decoded is ignored, as Tomcat does; the others count. */
export function queryParameters(query: string): QueryParameters {
  const values = new Map<string, string[]>();
  for (const parameter of query.split('&').filter((part) => part !== '')) {
    const equals = parameter.indexOf('=');
    const name = decode(equals < 0 ? parameter : parameter.slice(0, equals));
    const value = decode(equals < 0 ? '' : parameter.slice(equals + 1));
    if (name !== undefined && value !== undefined) {
      const known = values.get(name) ?? [];
      known.push(value);
      values.set(name, known);
    }
  }
  // Without a prototype, so that __proto__ is a name like any other.
  const parameters: Record<string, string | readonly string[]> = Object.create(null);
  for (const [name, [first = '', ...others]] of values) {
    parameters[name] = others.length === 0 ? first : [first, ...others];
  }
  return parameters;
}
