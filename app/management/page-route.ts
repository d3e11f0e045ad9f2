import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ActuatorEndpointId, ManagementEndpoint } from '../../contract/actuator.ts';
import { shortCommit } from '../../contract/build-info.ts';
import { exposedEndpoints } from '../../settings/sections/management.ts';
import type { Settings } from '../../settings/settings.ts';
import type { ConsumerHealth } from '../health/create-health.ts';
import type { Metrics } from '../metrics/create-metrics.ts';
import type { ProductBuild } from '../metrics/process/product-build.ts';
import type { LetterReport } from '../store/tables/kept-letters.ts';
import type { ConsumerReport } from '../stream/partition/consumer-state.ts';
import { parseAccept } from './content-negotiation.ts';
import { History } from './page/history.ts';
import { bareStatus, page } from './page/page.ts';
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

/** What the page is made from. */
interface PageSources {
  readonly settings: Pick<Settings, 'management'>;
  /** The topics that are read now, by their names alone. */
  readonly topics: { readonly settings: Pick<Settings, 'kafka'> };
  readonly endpoint: ManagementEndpoint;
  readonly build: ProductBuild;
  readonly report: () => ConsumerReport;
  readonly letters: () => LetterReport;
  readonly health: Pick<ConsumerHealth, 'endpoint' | 'lastFailures'>;
  readonly figures: Metrics['figures'];
}

/** The page for browsers, with what it remembers. */
export class ConsumerPage {
  readonly #sources: PageSources;
  readonly #history: History;
  readonly #links: ReadonlyMap<string, string>;
  readonly #startedAt = new Date(Date.now() - process.uptime() * 1_000);

  constructor(sources: PageSources) {
    const { settings, topics, endpoint, report, figures } = sources;
    this.#sources = sources;
    this.#history = new History({
      ...{ report, figures },
      get recordTopics() {
        return topics.settings.kafka.topics;
      },
    });
    this.#links = new Map([...exposedEndpoints(settings)].map((id) => [id, endpointPath(endpoint, id)] as const));
  }

  /** Begins to remember; that keeps no process alive. */
  start(): void {
    this.#history.start();
  }

  stop(): void {
    this.#history.stop();
  }

  /** The page as of now; the status alone where the health shows no more to anybody. */
  async write(): Promise<string> {
    const { topics, build, report, letters, health, figures } = this.#sources;
    const { status, components } = (await health.endpoint.find([], true)).report;
    if (components === undefined || !health.endpoint.showsDetails) {
      return bareStatus(status);
    }
    return page({
      now: new Date(),
      startedAt: this.#startedAt,
      version: build.version,
      commit: commitText(build),
      ...{ status, components, figures },
      lastFailures: health.lastFailures(),
      report: report(),
      recordTopics: topics.settings.kafka.topics,
      letters: letters(),
      history: this.#history,
      links: this.#links,
    });
  }
}

/** The commit as the info has it; with the word `dirty` where files differed from it. */
const commitText = ({ commit, dirty }: ProductBuild): string | undefined =>
  commit === undefined ? undefined : `${shortCommit(commit)}${dirty === true ? ', dirty' : ''}`;

const endpointPath = (endpoint: ManagementEndpoint, id: ActuatorEndpointId): string => endpoint[`${id}Path`];
