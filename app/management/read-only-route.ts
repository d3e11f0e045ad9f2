import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CORS_VARY, sendError } from './error-answer.ts';

/** Answers a request; what it returns is what it sent. */
export type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;

const READ_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Serves a path to GET and HEAD, tells OPTIONS what there is, and refuses every other method that HTTP knows with 405. */
export function readOnlyRoute(app: FastifyInstance, url: string, handler: Handler): void {
  app.get(url, handler);
  app.options(url, { onSend: withoutTypeWhenRefused }, sendOptions);
  const otherMethods = app.supportedMethods.filter((method) => !READ_METHODS.has(method));
  // Refused before Fastify looks at a body; a route needs its handler all the same.
  app.route({ method: otherMethods, url, onRequest: sendMethodNotAllowed, handler: sendMethodNotAllowed });
}

function sendOptions(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isPreflight = 'origin' in request.headers && 'access-control-request-method' in request.headers;
  if (isPreflight) {
    return reply.code(403).header('vary', CORS_VARY).send('Invalid CORS request');
  }
  return reply.headers({ allow: 'GET,HEAD,OPTIONS', 'accept-patch': '' }).send();
}

/** Spring's refusal is a bare text; Fastify would label it. */
async function withoutTypeWhenRefused(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (reply.statusCode === 403) {
    reply.removeHeader('content-type');
  }
}

async function sendMethodNotAllowed(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return sendError(request, reply.header('allow', 'GET'), 405);
}
