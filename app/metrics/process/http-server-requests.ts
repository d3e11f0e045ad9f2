import { type Labels, type MetricSources, sum } from '../exposition/metric-source.ts';
import { Timer } from '../exposition/time-windows.ts';

/** An HTTP request, as far as the metrics distinguish requests. */
export interface HttpRequest {
  readonly method: string;
  /** Template of the route; `UNKNOWN` where no route gave the answer. */
  readonly uri: string;
}

type HttpMetrics = Pick<MetricSources, 'httpRequests' | 'httpRequestsMax' | 'httpActive' | 'httpActiveMax'>;

/** Spring's label where its value is not known, such as `uri` of an answer that no route gave: 405, 406, OPTIONS. */
export const UNKNOWN = 'UNKNOWN';

/** Methods that are values of the label, as in Spring. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']);

/** Combinations of method, route and status that have a series each; the rest shares one. */
const MOST_LABEL_SETS = 100;

const OUTCOME: Readonly<Record<string, string>> = {
  1: 'INFORMATIONAL',
  2: 'SUCCESS',
  3: 'REDIRECTION',
  4: 'CLIENT_ERROR',
  5: 'SERVER_ERROR',
};

const knownMethod = (method: string): string => (METHODS.has(method) ? method : UNKNOWN);

const answeredLabels = (method: string, uri: string, status: string): Labels => ({
  error: 'none',
  exception: 'none',
  method,
  outcome: OUTCOME[status[0] ?? ''] ?? UNKNOWN,
  status,
  uri,
});

/** Spring's labels of a request under way: neither its status nor its route is known yet. */
const NOT_ANSWERED = { exception: 'none', outcome: 'SUCCESS', status: '200', uri: UNKNOWN };

/** Counts and times HTTP requests, those answered and those under way. */
export class HttpRequests {
  readonly #now: () => number;
  readonly #answered = new Map<string, { readonly labels: Labels; readonly timer: Timer }>();
  readonly #active = new Map<object, { readonly method: string; readonly beganAt: number }>();
  /** Methods of requests that were ever under way: their series stay, at 0. */
  readonly #seenMethods = new Set(['GET']);

  /** @param now Milliseconds of a clock that never goes back. @default performance.now() */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Lets the series of an answer be there, with 0, before the first such answer. */
  expect({ method, uri }: HttpRequest, status: number): void {
    this.#timer(method, uri, String(status));
  }

  /** A request began. @param key distinguishes it from all others until it ends */
  began(key: object, method: string): void {
    this.#seenMethods.add(knownMethod(method));
    this.#active.set(key, { method: knownMethod(method), beganAt: this.#now() });
  }

  /** A request was answered. */
  answered({ method, uri }: HttpRequest, status: number, seconds: number): void {
    this.#timer(method, uri, String(status)).record(seconds);
  }

  /** A request that began is over, answered or not. */
  ended(key: object): void {
    this.#active.delete(key);
  }

  get sources(): HttpMetrics {
    return {
      httpRequests: () =>
        [...this.#answered.values()].map(({ labels, timer }) => ({ labels, value: timer.seconds, count: timer.count })),
      httpRequestsMax: () => [...this.#answered.values()].map(({ labels, timer }) => ({ labels, value: timer.max })),
      httpActive: () => this.#ages().map(({ labels, ages }) => ({ labels, value: sum(ages), count: ages.length })),
      httpActiveMax: () => this.#ages().map(({ labels, ages }) => ({ labels, value: Math.max(0, ...ages) })),
    };
  }

  #timer(method: string, uri: string, status: string): Timer {
    const parts = [knownMethod(method), uri, status] as const;
    const key = parts.join(' ');
    const isRoom = this.#answered.has(key) || this.#answered.size < MOST_LABEL_SETS - 1;
    const known = this.#answered.get(isRoom ? key : UNKNOWN);
    if (known !== undefined) {
      return known.timer;
    }
    const labels = isRoom ? answeredLabels(...parts) : answeredLabels(UNKNOWN, UNKNOWN, UNKNOWN);
    const timer = new Timer(this.#now);
    this.#answered.set(isRoom ? key : UNKNOWN, { labels, timer });
    return timer;
  }

  /** Seconds that requests under way have taken so far, by method. */
  #ages(): { labels: Labels; ages: number[] }[] {
    const active = [...this.#active.values()];
    return [...this.#seenMethods].map((method) => ({
      labels: { ...NOT_ANSWERED, method },
      ages: active.filter((request) => request.method === method).map(({ beganAt }) => (this.#now() - beganAt) / 1_000),
    }));
  }
}
