import { maskText } from '../../settings/schema/mask-secrets.ts';
import { InvalidAnswerError, limitedText } from '../network/invalid-answer.ts';

/**
 * The login cannot be had, since a server answered that it is not given or a setting is missing: asking again changes
 * nothing.
 */
export class CredentialsRefused extends Error {
  override readonly name = 'CredentialsRefused';
  /** Stable, for logs. */
  readonly code = 'CREDENTIALS_REFUSED';
}

/** The login cannot be had now, since a server is away or a file cannot be read: an outage, to be tried again. */
export class CredentialsUnavailable extends Error {
  override readonly name = 'CredentialsUnavailable';
  /** Stable, for logs. */
  readonly code = 'CREDENTIALS_UNAVAILABLE';
}

/** Ends at a time, in milliseconds since 1970. */
interface Ending {
  readonly expiresAt: number;
}

/** Part of a lifetime that is left when a login is renewed, as of Java's `sasl.login.refresh.window.factor`. */
const RENEWAL_PART = 0.2;
/** The most that is left then, in milliseconds. */
const RENEWAL_MS = 300_000;
/** A login that ends so soon, in milliseconds, may have ended by the clock of what it is shown to. */
const LAST_MS = 2_000;

/**
 * A login that ends, renewed when a fifth of its life is left, or 5 minutes. One request at a time serves all that ask
 * meanwhile. Where none newer can be had, the one at hand goes on until just before its end.
 */
export class Renewed<T extends Ending> {
  readonly #renew: () => Promise<T>;
  readonly #now: () => number;
  #held: { readonly login: T; readonly renewAt: number } | undefined;
  #renewal: Promise<T> | undefined;

  /** @param now the time of day in milliseconds since 1970. @default that of this process */
  constructor(renew: () => Promise<T>, now: () => number = Date.now) {
    this.#renew = renew;
    this.#now = now;
  }

  /**
   * The login of this moment.
   *
   * @throws what the renewal throws, when none is at hand
   */
  async current(): Promise<T> {
    const held = this.#held;
    if (held !== undefined && this.#now() < held.renewAt) {
      return held.login;
    }
    this.#renewal ??= this.#renewed().finally(() => {
      this.#renewal = undefined;
    });
    try {
      return await this.#renewal;
    } catch (error) {
      if (held !== undefined && held === this.#held && this.#now() < held.login.expiresAt - LAST_MS) {
        return held.login;
      }
      throw error;
    }
  }

  /** Lets go of a login that was refused, so that the next one is new. */
  drop(login: T): void {
    this.#held = this.#held?.login === login ? undefined : this.#held;
  }

  async #renewed(): Promise<T> {
    const login = await this.#renew();
    const now = this.#now();
    const left = login.expiresAt - now;
    this.#held = { login, renewAt: login.expiresAt - Math.min(RENEWAL_MS, left * RENEWAL_PART) };
    return login;
  }
}

/** Longest wait for an answer, in milliseconds: kafkajs takes a login of more than 10 s for one that hangs. */
const CREDENTIALS_ANSWER_MS = 8_000;
const SHOWN_CHARACTERS = 300;

/** A token or keys are some kilobytes. */
const LARGEST_CREDENTIALS = 1_048_576;

/** Words of a server for one line of a log: masked, and without what was secret in the request. */
export function toldBy(text: string, secrets: readonly string[]): string {
  const open = secrets.filter((secret) => secret !== '').reduce((left, secret) => left.replaceAll(secret, '***'), text);
  return maskText(open.replace(/[\p{C}\s]+/gu, ' ').trim()).slice(0, SHOWN_CHARACTERS);
}

/** What is asked of a server that gives logins. */
export interface CredentialRequest {
  /** What it is in a message: `the token endpoint`. */
  readonly name: string;
  readonly url: URL;
  readonly init: RequestInit;
  /** Texts of the request that no message may hold. */
  readonly secrets: readonly string[];
  /** What an answer other than 200 says, in a few words; the whole text where it is left out. */
  readonly reason?: (body: string) => string;
}

const isPassing = (status: number): boolean => status >= 500 || status === 408 || status === 429;

/**
 * The body of the server's answer. Redirections are not followed: the request holds a secret.
 *
 * @throws {CredentialsRefused} for an answer of 300 to 499 but for 408 and 429
 * @throws {CredentialsUnavailable} when no answer comes within 8 s, it is larger than 1 MiB, or another one than 200
 */
export async function requestCredentials(request: CredentialRequest): Promise<string> {
  const { name, url, init, secrets, reason = (body) => body } = request;
  const place = `${name} ${url.origin}${url.pathname}`;
  const { status, body } = await fetchLimited(url, init).catch((error: unknown) => {
    const reason = toldBy(networkReason(error), secrets);
    throw new CredentialsUnavailable(
      `${place} ${error instanceof InvalidAnswerError ? '' : 'does not answer: '}${reason}`,
    );
  });
  if (status === 200) {
    return body;
  }
  const text = `${place} answered ${status}: ${toldBy(reason(body), secrets)}`;
  throw isPassing(status) ? new CredentialsUnavailable(text) : new CredentialsRefused(text);
}

async function fetchLimited(url: URL, init: RequestInit): Promise<{ readonly status: number; readonly body: string }> {
  const response = await fetch(url, {
    ...init,
    redirect: 'manual',
    signal: AbortSignal.timeout(CREDENTIALS_ANSWER_MS),
  });
  return { status: response.status, body: await limitedText(response, LARGEST_CREDENTIALS) };
}

/** `fetch` has the reason in the cause of its error. */
function networkReason(error: unknown): string {
  const { message, cause } = error as Error & { readonly cause?: Error & { readonly code?: string } };
  return cause === undefined ? message : ([cause.message, cause.code].find((text) => text) ?? message);
}
