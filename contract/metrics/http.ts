import type { MetricDefinitions } from './definition.ts';

const ACTIVE = ['exception', 'method', 'outcome', 'status', 'uri'] as const;
const ANSWERED = ['error', ...ACTIVE] as const;

/** Requests to the operational interface, and the lines of the log. */
export const HTTP_METRICS = {
  httpRequests: {
    name: 'http_server_requests_seconds',
    type: 'summary',
    labels: ANSWERED,
    help: 'Answered HTTP requests and the time they took; uri is the template of the route',
    dotted: 'http.server.requests',
    unit: 'seconds',
  },
  httpRequestsMax: {
    name: 'http_server_requests_seconds_max',
    type: 'gauge',
    labels: ANSWERED,
    help: 'Longest time that an HTTP request took in the last three minutes',
    unit: 'seconds',
  },
  httpActive: {
    name: 'http_server_requests_active_seconds',
    type: 'summary',
    labels: ACTIVE,
    help: 'HTTP requests under way and the time they have taken so far; a scrape counts itself',
    dotted: 'http.server.requests.active',
    unit: 'seconds',
  },
  httpActiveMax: {
    name: 'http_server_requests_active_seconds_max',
    type: 'gauge',
    labels: ACTIVE,
    help: 'Time that the oldest HTTP request under way has taken so far',
    unit: 'seconds',
  },
  logEvents: {
    name: 'logback_events_total',
    type: 'counter',
    labels: ['level'],
    help: 'Lines written to the log, by level; a fatal one counts as error',
    dotted: 'logback.events',
    unit: 'events',
  },
  logLinesDropped: {
    name: 'log_lines_dropped_total',
    type: 'counter',
    labels: [],
    help: 'Lines of the log that were lost, because standard output is full or closed or its reader does not read',
    unit: 'lines',
  },
  certificateExpiry: {
    name: 'ssl_chain_expiry_seconds',
    type: 'gauge',
    labels: ['bundle'],
    help: 'Time until the first certificate of a chain in use expires, negative after it; bundle is server for the HTTP interface, kafka and database for what is shown to them',
    dotted: 'ssl.chain.expiry',
    unit: 'seconds',
  },
} as const satisfies MetricDefinitions;
