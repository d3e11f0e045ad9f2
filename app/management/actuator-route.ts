import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { accepts, type MediaRange, negotiate, parseAccept, producible } from './content-negotiation.ts';
import { CORS_VARY, sendError, sendNotAcceptable } from './error-answer.ts';

const V3 = 'application/vnd.spring-boot.actuator.v3+json';
const V2 = 'application/vnd.spring-boot.actuator.v2+json';
const ACTUATOR_TYPES = [V3, V2, 'application/json'];
const JSON_TYPES = producible(...ACTUATOR_TYPES);
const [V3_RANGE, V2_RANGE] = JSON_TYPES;

/** Which of Actuator's JSON dialects the client reads: V2 calls `details` what V3 calls `components`. */
export type Dialect = 'v2' | 'v3';

/** What a JSON endpoint answers. */
export interface JsonAnswer {
  /** @default 200 */
  readonly status?: number;
  readonly body: object;
}

/** Finds the answer; `undefined` is 404 without a body, a number is an error of that status. */
type JsonHandler = (
  request: FastifyRequest,
  dialect: Dialect,
) => JsonAnswer | number | undefined | Promise<JsonAnswer | number | undefined>;

/**
 * Serves a path as JSON in the type that the client asks for, Actuator's own by default; 406 when it takes none of
 * them.
 */
export function jsonRoute(app: FastifyInstance, url: string, handler: JsonHandler): void {
  readOnlyRoute(app, url, async (request, reply) => {
    const ranges = parseAccept(request.headers.accept);
    const type = negotiate(ranges, JSON_TYPES);
    if (type === undefined) {
      return sendNotAcceptable(request, reply, ACTUATOR_TYPES);
    }
    const answer = await handler(request, dialectOf(ranges));
    if (answer === undefined) {
      return reply.code(404).send();
    }
    if (typeof answer === 'number') {
      return sendError(request, reply, answer);
    }
    return reply
      .code(answer.status ?? 200)
      .header('content-type', type)
      .serializer(toJson)
      .send(answer.body);
  });
}

/** The newest dialect that any of the ranges takes, whatever their order; V3 when they name neither. */
function dialectOf(ranges: readonly MediaRange[]): Dialect {
  const takes = (type: MediaRange | undefined) => type !== undefined && ranges.some((range) => accepts(range, type));
  return takes(V2_RANGE) && !takes(V3_RANGE) ? 'v2' : 'v3';
}

/** JSON cannot express NaN and the infinities; Actuator writes them as strings. */
function toJson(body: unknown): string {
  return JSON.stringify(body, (_key, value: unknown) =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
  );
}

/** Answers a request and returns the reply that it sent. */
type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;

const READ_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Serves a path to GET and HEAD, answers OPTIONS with these methods, and refuses every other method that HTTP knows
 * with 405.
 */
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

/** Spring refuses a preflight without a content type; Fastify would add one. */
async function withoutTypeWhenRefused(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (reply.statusCode === 403) {
    reply.removeHeader('content-type');
  }
}

async function sendMethodNotAllowed(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return sendError(request, reply.header('allow', 'GET'), 405);
}
