import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { HTTPMethods } from 'fastify';
import { type RunningManagement, startManagement } from './running-management.ts';

let running: RunningManagement;

beforeAll(async () => {
  running = await startManagement();
});

afterAll(() => running.management.stop());

const segment = fc.oneof(
  fc.constantFrom(
    'actuator',
    'health',
    'metrics',
    'prometheus',
    'info',
    'db',
    'readiness',
    'jvm.memory.used',
    '',
    '..',
  ),
  fc.string({ maxLength: 30 }).map(encodeURIComponent),
  fc.stringMatching(/^[!-~]{0,20}$/).map((text) => text.replace(/[/#?\\]/g, '%')),
);

const query = fc.oneof(
  fc.constant(''),
  fc.string({ maxLength: 40 }).map((text) => `?tag=${encodeURIComponent(text)}`),
  fc
    .stringMatching(/^[!-~]{0,40}$/)
    .map((text) => `?includedNames=${text.replaceAll('#', '%')}&tag=${text.replaceAll('#', '%')}`),
);

const accept = fc.oneof(
  fc.constantFrom('*/*', 'application/json', 'text/html', 'text/plain', 'application/openmetrics-text'),
  fc.stringMatching(/^[ -~]{0,60}$/),
);

const request = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND'),
  url: fc.tuple(fc.array(segment, { maxLength: 6 }), query).map(([path, rest]) => `/${path.join('/')}${rest}`),
  headers: fc.record({ accept, host: fc.stringMatching(/^[!-~]{1,30}$/) }),
});

test('no request makes the server fail or show its inside', async () => {
  const known = new Set([200, 400, 403, 404, 405, 406]);
  await fc.assert(
    fc.asyncProperty(request, async ({ method, url, headers }) => {
      const answer = await running.app.inject({ method: method as HTTPMethods, url, headers });
      expect(known).toContain(answer.statusCode);
      expect(answer.body).not.toMatch(/node_modules|\bat .+\.ts:\d+/);
      if (answer.body !== '' && String(answer.headers['content-type']).includes('json')) {
        expect(() => JSON.parse(answer.body)).not.toThrow();
      }
    }),
    { numRuns: 500 },
  );
});
