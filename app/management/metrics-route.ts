import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ManagementEndpoint } from '../../contract/actuator.ts';
import type { MetricReader } from '../metrics/metric-reading.ts';
import { jsonRoute } from './actuator-route.ts';

type Tag = readonly [string, string];

/** Serves the names of the metrics and each one's figures, by `?tag=KEY:VALUE` those of the series that carry the tag. */
export function metricsRoute(app: FastifyInstance, endpoint: ManagementEndpoint, reader: MetricReader): void {
  jsonRoute(app, endpoint.metricsPath, () => ({ body: { names: reader.names } }));
  app.addHook('onSend', async (request, reply) => {
    const { name } = request.params as { name?: string };
    // Spring guards answers at paths that end like a file name against being saved and run as a file, empty ones apart.
    if (name?.includes('.') && reply.hasHeader('content-type')) {
      reply.header('content-disposition', 'inline;filename=f.txt');
    }
  });
  jsonRoute(app, `${endpoint.metricsPath}/:name(^.+$)`, (request) => {
    const tags = tagsOf(request);
    if (tags === undefined) {
      return 400;
    }
    const body = reader.read((request.params as { name: string }).name, tags);
    return body && { body };
  });
}

/** The tags of the query; `undefined` when one of them is not KEY:VALUE. A single parameter may hold several, by commas. */
function tagsOf(request: FastifyRequest): readonly Tag[] | undefined {
  const { tag = '' } = request.query as { tag?: string | string[] };
  if (tag === '') {
    return [];
  }
  const tags = (typeof tag === 'string' ? tag.split(',') : tag).map(parseTag);
  return tags.every((parsed) => parsed !== undefined) ? tags : undefined;
}

function parseTag(text: string): Tag | undefined {
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : [text.slice(0, colon), text.slice(colon + 1)];
}
