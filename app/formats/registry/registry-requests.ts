import http, { type IncomingMessage } from 'node:http';
import https, { type RequestOptions } from 'node:https';
import type { SchemaRequestOutcome } from '../../../contract/metrics/definition.ts';
import { milliseconds } from '../../../settings/schema/duration.ts';
import { registryUrls, type SchemaRegistrySettings } from '../../../settings/sections/schema-registry.ts';
import { CredentialsRefused, CredentialsUnavailable, toldBy } from '../../credentials/credentials.ts';
import { readTls } from '../../credentials/tls-files.ts';
import { InvalidAnswerError, limitedText } from '../../network/invalid-answer.ts';
import { RegistryLogin, type RequestLogin } from './registry-login.ts';

/** The registry cannot answer now: asking again later may help. */
export class RegistryAway extends Error {
  override readonly name = 'RegistryAway';
  /** How long the registry asked to be left alone, in milliseconds. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The registry answered that it cannot be used with these settings: asking again changes nothing by itself. */
export class RegistryRefused extends Error {
  override readonly name = 'RegistryRefused';
}

/** What the registry answered about a schema. */
export type RegistryAnswer = Readonly<Record<string, unknown>> & { readonly schema: string };

/** An answer of HTTP. */
interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** An answer is a schema, which is limited to 1 MiB, and its metadata. */
const LARGEST_ANSWER = 8 * 1_048_576;
/** Connections to one URL. */
const MOST_SOCKETS = 4;
/** After so long without a request a connection is closed: proxies close theirs after a minute. */
const IDLE_MS = 30_000;
/** The longest time that a registry may ask to be left alone. */
const LONGEST_RETRY_AFTER_MS = 300_000;

/** Codes of Confluent's API: no such subject, version or schema. */
const NOT_FOUND_CODES: readonly unknown[] = [40401, 40402, 40403];

/** Asks the registry, by whichever of its URLs answers. */
export class RegistryRequests {
  readonly #current: () => SchemaRegistrySettings;
  readonly #onOutcome: (outcome: SchemaRequestOutcome) => void;
  readonly #login = new RegistryLogin();
  readonly #agents = {
    'http:': new http.Agent({ keepAlive: true, maxSockets: MOST_SOCKETS, timeout: IDLE_MS }),
    'https:': new https.Agent({ keepAlive: true, maxSockets: MOST_SOCKETS, timeout: IDLE_MS }),
  };
  /** The place of the URL that answered last. */
  #answering = 0;

  /**
   * @param current the settings of the moment: each request is made with the newest credentials and certificates
   * @param onOutcome called for each answer, and for each that did not come
   */
  constructor(current: () => SchemaRegistrySettings, onOutcome: (outcome: SchemaRequestOutcome) => void) {
    this.#current = current;
    this.#onOutcome = onOutcome;
  }

  /**
   * Asks for a schema.
   *
   * @param path behind the URL, with what it asks for
   * @returns `undefined` where the registry does not have it
   * @throws RegistryAway when no URL answers, RegistryRefused when one refuses
   */
  async get(path: string): Promise<RegistryAnswer | undefined> {
    const urls = registryUrls(this.#current());
    const failures: RegistryAway[] = [];
    for (const nth of urls.keys()) {
      const place = (this.#answering + nth) % urls.length;
      try {
        const answer = await this.#counted(this.#getFrom(new URL(`${urls[place]?.replace(/\/+$/, '')}${path}`)));
        this.#answering = place;
        return answer;
      } catch (error) {
        if (!(error instanceof RegistryAway)) {
          throw error;
        }
        failures.push(error);
      }
    }
    const retryAfterMs = Math.min(...failures.map((failure) => failure.retryAfterMs));
    throw new RegistryAway(failures.map(({ message }) => message).join('; '), retryAfterMs);
  }

  /** Closes the connections that are kept. */
  async close(): Promise<void> {
    for (const agent of Object.values(this.#agents)) {
      agent.destroy();
    }
  }

  async #counted(asking: Promise<RegistryAnswer | undefined>): Promise<RegistryAnswer | undefined> {
    try {
      const answer = await asking;
      this.#onOutcome(answer === undefined ? 'unknown' : 'found');
      return answer;
    } catch (error) {
      this.#onOutcome(error instanceof RegistryRefused ? 'refused' : 'away');
      throw error;
    }
  }

  async #getFrom(url: URL): Promise<RegistryAnswer | undefined> {
    const place = `${url.origin}${url.pathname}`;
    const login = await this.#logIn();
    const answer = await this.#send(url, place, login);
    if (answer.status !== 401 || login.drop === undefined) {
      return verdictOnAnswer(answer, place, login.secrets);
    }
    // A token may have ended since it was given, or its key has: only a new one that is refused is a refusal.
    login.drop();
    const renewed = await this.#logIn();
    return verdictOnAnswer(await this.#send(url, place, renewed), place, renewed.secrets);
  }

  async #logIn(): Promise<RequestLogin> {
    try {
      return await this.#login.current(this.#current());
    } catch (error) {
      if (error instanceof CredentialsUnavailable) {
        throw new RegistryAway(error.message);
      }
      throw error instanceof CredentialsRefused ? new RegistryRefused(error.message) : error;
    }
  }

  async #send(url: URL, place: string, { headers, secrets }: RequestLogin): Promise<HttpAnswer> {
    const { timeout, tls } = this.#current();
    const signal = AbortSignal.timeout(milliseconds(timeout));
    try {
      const options = {
        headers: { ...headers, accept: 'application/vnd.schemaregistry.v1+json, application/json' },
        signal,
        agent: url.protocol === 'https:' ? this.#agents['https:'] : this.#agents['http:'],
        ...(url.protocol === 'https:' && readTls('schemaRegistry.tls', tls)),
        ...(url.protocol === 'https:' && tls?.serverName !== undefined && { servername: tls.serverName }),
      };
      return await request(url, options);
    } catch (error) {
      if (signal.aborted) {
        throw new RegistryAway(`${place} gave no answer within ${timeout}`);
      }
      const words = toldBy(networkWords(error), secrets);
      throw new RegistryAway(`${place} ${error instanceof InvalidAnswerError ? words : `does not answer: ${words}`}`);
    }
  }
}

/** The operating system's words, or those of OpenSSL. */
function networkWords(error: unknown): string {
  const { message, code, errors } = error as NodeJS.ErrnoException & { readonly errors?: readonly Error[] };
  // An error without a message has one for each address of the host.
  return message || errors?.map((each) => each.message).join('; ') || (code ?? 'no reason given');
}

/** A connection that was kept may be closed by the registry while a request is on its way: that one is sent again. */
async function request(url: URL, options: RequestOptions): Promise<HttpAnswer> {
  const { request: first, answer } = send(url, options);
  return answer.catch((error: NodeJS.ErrnoException) => {
    if (first.reusedSocket && error.code === 'ECONNRESET') {
      return send(url, { ...options, agent: false }).answer;
    }
    throw error;
  });
}

/** Redirections are not followed: the request holds a secret. */
function send(url: URL, options: RequestOptions) {
  const sent = (url.protocol === 'https:' ? https : http).request(url, options);
  const answer = new Promise<HttpAnswer>((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      limitedText({ body: response }, LARGEST_ANSWER).then((text) => resolve({ status, headers, text }), reject);
    });
    sent.end();
  });
  return { request: sent, answer };
}

/** What an answer means. */
function verdictOnAnswer(
  { status, headers, text }: HttpAnswer,
  place: string,
  secrets: readonly string[],
): RegistryAnswer | undefined {
  const body = jsonOf(text);
  const { schema, error_code: code, message } = body;
  if (status === 200) {
    if (typeof schema !== 'string') {
      throw new RegistryAway(`${place} answered 200 without a schema: a proxy or a wrong address answers like that`);
    }
    return { ...body, schema };
  }
  if (status === 404 && NOT_FOUND_CODES.includes(code)) {
    return undefined;
  }
  const words = toldBy(typeof message === 'string' ? message : '', secrets);
  const answered = `${place} answered ${status}${words === '' ? '' : `: ${words}`}`;
  if (status === 401 || status === 403) {
    throw new RegistryRefused(`${answered}; check the login of schemaRegistry, and what it may read`);
  }
  if (status === 404) {
    throw new RegistryRefused(
      `${answered}, and not as a schema registry: check the path of schemaRegistry.url (with Apicurio .../apis/ccompat/v7)`,
    );
  }
  const redirection = status >= 300 && status < 400 ? ', a redirection, which is not followed' : '';
  throw new RegistryAway(`${answered}${redirection}`, retryAfterMs(headers['retry-after']));
}

/** An object of JSON; an empty one where the text is something else. */
function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function retryAfterMs(header: string | undefined): number {
  const given = Number(header) * 1_000 || Date.parse(header ?? '') - Date.now();
  return Number.isNaN(given) ? 0 : Math.min(Math.max(0, given), LONGEST_RETRY_AFTER_MS);
}
