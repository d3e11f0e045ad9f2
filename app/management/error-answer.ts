import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { rateLimitedWarning } from '../logging/logger.ts';
import type { ConnectionLimit } from './connection-limit.ts';
import { negotiate, parseAccept, producible } from './content-negotiation.ts';

const HTML = 'text/html;charset=UTF-8';
const ERROR_TYPES = producible('application/json', 'application/*+json', 'text/html');

/** Request headers on which an answer would depend if the server knew cross-origin requests; Spring sends them so. */
export const CORS_VARY = ['Origin', 'Access-Control-Request-Method', 'Access-Control-Request-Headers'];

/**
 * Answers with an error as Spring Boot does: JSON with exactly the keys timestamp, status, error and path; a page for a
 * client that wants HTML; no body for one that takes neither. Never a message, never a stack trace.
 */
export function sendError(request: FastifyRequest, reply: FastifyReply, status: number): FastifyReply {
  const type = negotiate(parseAccept(request.headers.accept), ERROR_TYPES);
  reply.code(status);
  const body = errorBody(status, request.originalUrl.replace(/[?#].*$/s, ''));
  if (type === undefined) {
    return reply.send();
  }
  if (type.startsWith('text/html')) {
    return reply.headers({ 'content-type': HTML, 'content-language': 'en' }).send(errorPage(body));
  }
  return reply.header('content-type', type).serializer(JSON.stringify).send(body);
}

/** Answers 404 for a path without a route. */
export function sendNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendError(request, reply.header('vary', CORS_VARY), 404);
}

/** Answers 406 and lists the content types that can be had. */
export function sendNotAcceptable(
  request: FastifyRequest,
  reply: FastifyReply,
  types: readonly string[],
): FastifyReply {
  return sendError(request, reply.header('accept', types.join(', ')), 406);
}

const errorBody = (status: number, path: string) => ({
  timestamp: new Date().toISOString().replace('Z', '+00:00'),
  status,
  error: STATUS_CODES[status] ?? 'Error',
  path,
});

/** Holds nothing that came with the request. */
function errorPage({ status, error }: { readonly status: number; readonly error: string }): string {
  return `<!doctype html><html lang="en"><head><title>${status} ${error}</title></head><body><h1>${status} ${error}</h1></body></html>\n`;
}

/**
 * Answers what could not be read as a request with the same JSON, and closes the connection. The path is empty, since
 * the bytes read so far may belong to another request. A failed TLS handshake has no answer in HTTP.
 */
export function answerClientError(error: ConnectionError, socket: Socket): void {
  const status = clientErrorStatus(error);
  if (status === undefined || !socket.writable) {
    socket.destroy(error);
    return;
  }
  socket.end(rawAnswer(status, 'application/json', JSON.stringify(errorBody(status, ''))), () => socket.destroy());
}

// A failed handshake's error may have no code.
function clientErrorStatus({ code = '' }: Partial<ConnectionError>): number | undefined {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return 408;
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return 431;
  }
  return code.startsWith('HPE_') ? 400 : undefined;
}

/** OpenSSL's codes for the beginning of a request where that of a handshake is due. */
const PLAIN_HTTP: ReadonlySet<string> = new Set(['ERR_SSL_HTTP_REQUEST', 'ERR_SSL_HTTPS_PROXY_REQUEST']);

const REQUIRES_TLS = 'This combination of host and port requires TLS.\r\n';

/** Answers plain HTTP at the HTTPS port with 400, over the TCP socket, and warns of it. */
export function answerPlainHttp(app: FastifyInstance, connections: Pick<ConnectionLimit, 'socketBelow'>): void {
  const warn = rateLimitedWarning(app, 'plain HTTP came to the HTTPS port');
  app.server.on('tlsClientError', ({ code }: ConnectionError, socket: Socket) => {
    if (PLAIN_HTTP.has(code)) {
      warn(socket.remoteAddress);
      connections.socketBelow(socket)?.write(rawAnswer(400, 'text/plain;charset=UTF-8', REQUIRES_TLS));
    }
  });
}

/** An answer as it goes over a connection that has no request, after which the connection ends. */
function rawAnswer(status: number, type: string, body: string): string {
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Date: ${new Date().toUTCString()}`,
    'Connection: close',
  ];
  return `${headers.join('\r\n')}\r\n\r\n${body}`;
}
