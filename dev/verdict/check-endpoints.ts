import type { ManagementEndpoint } from '../../contract/actuator.ts';
import { METRICS } from '../../contract/metrics.ts';
import { count, type Finding } from './finding.ts';

const HEALTH_COMPONENTS = ['db', 'diskSpace', 'ping', 'kafka', 'consumer'] as const;
const JSON_TYPE = /^application\/(vnd\.spring-boot\.actuator\.v3\+)?json/;
const TEXT_TYPE = /^text\/plain/;

type Get = (path: string) => Promise<Response>;

interface Expectation {
  readonly path: string;
  readonly contentType: RegExp;
  /** The problem of a body; undefined when it has none. */
  readonly problem: (body: string) => string | undefined;
}

/**
 * Asks each HTTP endpoint once.
 *
 * @param consumed records that the counter must show for the topic; undefined when other producers' records count, too.
 */
export async function checkEndpoints(
  get: Get,
  endpoint: ManagementEndpoint,
  topic: string,
  consumed: number | undefined,
): Promise<Finding> {
  const expectations = expectationsOf(endpoint, topic, consumed);
  const details: string[] = [];
  for (const expectation of expectations) {
    const problem = await ask(get, expectation);
    if (problem !== undefined) {
      details.push(`GET ${expectation.path}: ${problem}`);
    }
  }
  return {
    check: 'HTTP endpoints that answer as they should',
    expected: count(expectations.length),
    found: count(expectations.length - details.length),
    isWell: details.length === 0,
    details,
  };
}

function expectationsOf(
  endpoint: ManagementEndpoint,
  topic: string,
  consumed: number | undefined,
): readonly Expectation[] {
  const { basePath, healthPath, livenessPath, readinessPath, infoPath, metricsPath, prometheusPath } = endpoint;
  const isUp = jsonProblem((body) => (body['status'] === 'UP' ? undefined : `the status is ${body['status']}`));
  const isObject = jsonProblem(() => undefined);
  const json = (path: string, problem: Expectation['problem']) => ({ path, contentType: JSON_TYPE, problem });
  return [
    json(basePath, isObject),
    json(infoPath, isObject),
    json(healthPath, isUp),
    ...HEALTH_COMPONENTS.map((component) => json(`${healthPath}/${component}`, isUp)),
    json(livenessPath, isUp),
    json(readinessPath, isUp),
    json(metricsPath, isObject),
    json(`${metricsPath}/${METRICS.recordsConsumed.name}`, isObject),
    { path: prometheusPath, contentType: TEXT_TYPE, problem: (body) => scrapeProblem(body, topic, consumed) },
  ];
}

async function ask(get: Get, { path, contentType, problem }: Expectation): Promise<string | undefined> {
  try {
    const response = await get(path);
    const body = await response.text();
    const type = response.headers.get('content-type') ?? 'none';
    if (response.status !== 200) {
      return `status ${response.status}: ${body.slice(0, 200)}`;
    }
    return contentType.test(type) ? problem(body) : `the content type is ${type}`;
  } catch (error) {
    // The error of fetch has its reason in the cause.
    const { cause } = error as { cause?: unknown };
    return String(cause instanceof Error ? cause.message : error);
  }
}

function jsonProblem(check: (body: Record<string, unknown>) => string | undefined): Expectation['problem'] {
  return (text) => {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? check({ ...body }) : 'the body is not a JSON object';
  };
}

/** Sums the counter of consumed records over the topic's partitions. */
function scrapeProblem(scrape: string, topic: string, consumed: number | undefined): string | undefined {
  const { name } = METRICS.recordsConsumed;
  const series = scrape.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes(`topic="${topic}"`));
  const sum = series.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0);
  if (series.length === 0) {
    return `no series ${name} of the topic ${topic}`;
  }
  return consumed === undefined || sum === consumed
    ? undefined
    : `${name} says ${count(sum)} records instead of ${count(consumed)}`;
}
