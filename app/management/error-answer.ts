import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseAccept } from './accept-header.ts';
import { negotiate, producible } from './content-negotiation.ts';

const HTML = 'text/html;charset=UTF-8';
const ERROR_TYPES = producible('application/json', 'application/*+json', 'text/html');

/** Request headers on which an answer would depend if the server knew cross-origin requests; Spring sends them so. */
export const CORS_VARY = ['Origin', 'Access-Control-Request-Method', 'Access-Control-Request-Headers'];

/**
 * Answers with an error as Spring Boot words it: JSON with exactly the keys timestamp, status, error and path; a page
 * for a client that wants HTML; no body for one that takes neither. Never a message, never a stack trace.
 */
export function sendError(request: FastifyRequest, reply: FastifyReply, status: number): FastifyReply {
  const reason = STATUS_CODES[status] ?? 'Error';
  const type = negotiate(parseAccept(request.headers.accept), ERROR_TYPES);
  reply.code(status);
  if (type === undefined) {
    return reply.send();
  }
  if (type.startsWith('text/html')) {
    return reply.headers({ 'content-type': HTML, 'content-language': 'en' }).send(errorPage(status, reason));
  }
  const body = {
    timestamp: new Date().toISOString().replace('Z', '+00:00'),
    status,
    error: reason,
    path: request.originalUrl.replace(/[?#].*$/s, ''),
  };
  return reply.header('content-type', type).serializer(JSON.stringify).send(body);
}

/** Answers 404 for a path that nobody serves. */
export function sendNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendError(request, reply.header('vary', CORS_VARY), 404);
}

/** Holds nothing that came with the request. */
function errorPage(status: number, reason: string): string {
  return `<!doctype html><html lang="en"><head><title>${status} ${reason}</title></head><body><h1>${status} ${reason}</h1></body></html>\n`;
}
