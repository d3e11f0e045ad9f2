import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ManagementEndpoint } from '../../contract/actuator.ts';
import type { ExpositionFormat } from '../metrics/exposition.ts';
import { accepts, parseAccept } from './accept-header.ts';
import { sendNotAcceptable } from './actuator-route.ts';
import { sendCompressed } from './compressed-answer.ts';
import { producible } from './content-negotiation.ts';
import { readOnlyRoute } from './read-only-route.ts';

const CONTENT_TYPE: Readonly<Record<ExpositionFormat, string>> = {
  text: 'text/plain;version=0.0.4;charset=utf-8',
  openmetrics: 'application/openmetrics-text;version=1.0.0;charset=utf-8',
};

/** Writes the metrics, all or those of the names. */
export type MetricsWriter = (format: ExpositionFormat, includedNames?: ReadonlySet<string>) => Promise<string>;

/** Serves the scrape: text 0.0.4, or OpenMetrics 1.0.0 for a client that names it; gzip when asked. `?includedNames=` narrows it. */
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

/** OpenMetrics wherever it is asked for by name, whatever its `q`; text where anything will do. */
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
