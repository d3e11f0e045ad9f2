import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseAccept } from './content-negotiation.ts';
import { CONTENT_SECURITY_POLICY } from './page/style-and-script.ts';
import { sendCompressed } from './prometheus-route.ts';

/** Where the page is. */
const PAGE_PATH = '/';

/** The name by which the router distinguishes browsers. */
const BROWSER = 'browser';

/**
 * Sent with the page: it is of one moment, may be in no frame of another page, and asks nothing of another origin.
 */
const HEADERS = {
  'content-type': 'text/html;charset=UTF-8',
  'content-language': 'en',
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Whether a client prefers HTML to all else, as browsers do: then it names `text/html` first. */
function isBrowser(accept: string | undefined): boolean {
  const [best] = accept === undefined ? [] : parseAccept(accept);
  return best?.type === 'text' && best.subtype === 'html';
}

/** Lets a route answer browsers alone: for who is none it is not there, so that the answer is what it would be then. */
function distinguishBrowsers(app: FastifyInstance): void {
  app.addConstraintStrategy({
    name: BROWSER,
    storage: () => {
      const routes = new Map();
      return { get: (isIt) => routes.get(isIt) ?? null, set: (isIt, route) => void routes.set(isIt, route) };
    },
    deriveConstraint: ({ headers }) => isBrowser(headers.accept),
    mustMatchWhenDerived: false,
  });
}

/** Serves the page to browsers. @param write writes it for each request anew */
export function pageRoute(app: FastifyInstance, write: () => Promise<string>): void {
  distinguishBrowsers(app);
  app.get(PAGE_PATH, { constraints: { [BROWSER]: true } }, async (request: FastifyRequest, reply: FastifyReply) =>
    sendCompressed(request, reply.headers(HEADERS), await write()),
  );
}
