import { constants, gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ManagementEndpoint } from '../../contract/actuator.ts';
import type { ExpositionFormat } from '../metrics/exposition/exposition.ts';
import { readOnlyRoute } from './actuator-route.ts';
import { accepts, parseAccept, producible } from './content-negotiation.ts';
import { sendNotAcceptable } from './error-answer.ts';

const CONTENT_TYPE: Readonly<Record<ExpositionFormat, string>> = {
  text: 'text/plain;version=0.0.4;charset=utf-8',
  openmetrics: 'application/openmetrics-text;version=1.0.0;charset=utf-8',
};

/** Writes all metrics, or those with the names. */
export type MetricsWriter = (format: ExpositionFormat, includedNames?: ReadonlySet<string>) => Promise<string>;

/**
 * Serves the scrape: text 0.0.4, or OpenMetrics 1.0.0 for a client that names it; gzip for a client that takes it.
 * `?includedNames=` selects metrics.
 */
export function prometheusRoute(app: FastifyInstance, endpoint: ManagementEndpoint, write: MetricsWriter): void {
  readOnlyRoute(app, endpoint.prometheusPath, async (request, reply) => {
    const format = formatFor(request.headers.accept);
    if (format === undefined) {
      return sendNotAcceptable(request, reply, Object.values(CONTENT_TYPE));
    }
    const body = await write(format, includedNamesOf(request));
    return sendCompressed(request, reply.header('content-type', CONTENT_TYPE[format]), body);
  });
}

/** OpenMetrics for a client that names it, whatever its `q`; text for one that takes anything. */
function formatFor(accept: string | undefined): ExpositionFormat | undefined {
  const ranges = parseAccept(accept);
  const takes = (format: ExpositionFormat, candidates = ranges) =>
    producible(CONTENT_TYPE[format]).some((type) => candidates.some((range) => accepts(range, type)));
  const named = ranges.filter(({ subtype }) => subtype === 'openmetrics-text');
  if (takes('openmetrics', named)) {
    return 'openmetrics';
  }
  if (takes('text')) {
    return 'text';
  }
  return takes('openmetrics') ? 'openmetrics' : undefined;
}

function includedNamesOf(request: FastifyRequest): ReadonlySet<string> | undefined {
  const { includedNames } = request.query as { includedNames?: string | string[] };
  return includedNames === undefined ? undefined : new Set([includedNames].flat().flatMap((names) => names.split(',')));
}

/** A shorter answer fits into one packet anyway. */
const LEAST_COMPRESSED = 1_024;

/** The fastest level, too, makes a scrape ten times smaller: its lines repeat each other. */
const LEVEL = constants.Z_BEST_SPEED;

/**
 * Sends a text, compressed for a client that takes gzip. Compressing takes less than a millisecond; a separate thread
 * would take several where the processors are busy.
 */
export function sendCompressed(
  request: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  text: string,
): FastifyReply {
  if (text.length < LEAST_COMPRESSED || !takesGzip(request.headers['accept-encoding'])) {
    return reply.send(text);
  }
  const body = gzipSync(text, { level: LEVEL });
  return reply.headers({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' }).send(body);
}

/** Whether Accept-Encoding has gzip, x-gzip or else `*` with a weight above 0. */
function takesGzip(header: string | string[] | undefined): boolean {
  const weights = new Map(
    String(header ?? '')
      .split(',')
      .map(parseCoding),
  );
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}

function parseCoding(text: string): [string, number] {
  const [coding = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length) ?? '1';
  return [coding, Number(weight) || 0];
}
