import { hostname } from 'node:os';
import { managementEndpoint } from '../../contract/actuator.ts';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import { milliseconds } from '../../settings/schema/duration.ts';
import { maskText } from '../../settings/schema/mask-secrets.ts';
import type { AdminClientSettings, Settings } from '../../settings/settings.ts';
import type { Logger } from '../logging/logger.ts';
import { limitedText } from '../network/invalid-answer.ts';

/** Timeout of a registration, in milliseconds, the same as that of Spring's own client. */
const REGISTRATION_ANSWER_MS = 5_000;

/** Most bytes of an answer, which holds an id. */
const LARGEST_REGISTRATION = 65_536;

/** Longest time, in milliseconds, that a registration under way gets during the shutdown, and then signing off. */
const SIGN_OFF_MS = 1_000;

/** The registration of this process, in the names of Spring Boot Admin's API. */
interface AdminInstance {
  readonly name: string;
  readonly managementUrl: string;
  readonly healthUrl: string;
  readonly serviceUrl: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The state of the registration at one server. */
interface Known {
  /** The id of this process there; `undefined` before the first registration. */
  id: string | undefined;
  /** Whether the log has that the server is away. */
  isAway: boolean;
}

/**
 * Registers this process at Spring Boot Admin, and again every `period`, since a server forgets its instances when it
 * restarts. A server that is away is logged once and tried again; the consumer never waits for it.
 */
export class AdminRegistration {
  readonly #client: AdminClientSettings;
  readonly #login: () => Pick<AdminClientSettings, 'username' | 'password'>;
  readonly #instance: () => AdminInstance;
  readonly #logger: Pick<Logger, 'info' | 'warn' | 'debug'>;
  readonly #servers: ReadonlyMap<string, Known>;
  readonly #givingUp = new AbortController();
  #isEnding = false;
  #timer: NodeJS.Timeout | undefined;
  #attempt: Promise<void> = Promise.resolve();
  #ended: Promise<void> | undefined;

  /**
   * @param login of the moment, at the servers
   * @param instance of the moment: it may hold a credential of this process
   */
  constructor(
    client: AdminClientSettings,
    login: () => Pick<AdminClientSettings, 'username' | 'password'>,
    instance: () => AdminInstance,
    logger: Pick<Logger, 'info' | 'warn' | 'debug'>,
  ) {
    this.#client = client;
    this.#login = login;
    this.#instance = instance;
    this.#logger = logger;
    this.#servers = new Map(client.url.map((url) => [withoutSlash(url), { id: undefined, isAway: false }]));
  }

  /** Registers now and from now on. */
  start(): void {
    this.#attempt = this.#register();
    void this.#attempt.then(() => {
      if (!this.#isEnding) {
        this.#timer = setTimeout(() => this.start(), milliseconds(this.#client.period));
      }
    });
  }

  /** Ends the registering and signs off at each server, for 2 s at most. Calling it again joins the first call. */
  end(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#timer);
    // A registration under way is awaited: cut off, it could exist there with an id that is not known here.
    const giveUp = setTimeout(() => this.#givingUp.abort(), SIGN_OFF_MS);
    await this.#attempt;
    clearTimeout(giveUp);
    if (this.#client['auto-deregistration']) {
      await Promise.all([...this.#servers].map(([url, { id }]) => id !== undefined && this.#signOff(url, id)));
    }
  }

  async #register(): Promise<void> {
    for (const [url, known] of this.#servers) {
      const isRegistered = await this.#registerAt(url, known);
      if (this.#isEnding || (isRegistered && this.#client['register-once'])) {
        return;
      }
    }
  }

  async #registerAt(url: string, known: Known): Promise<boolean> {
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(REGISTRATION_ANSWER_MS), this.#givingUp.signal]);
      const id = await this.#post(`${url}/instances`, signal);
      if (known.id === undefined || known.isAway) {
        this.#logger.info({ server: url, id }, 'registered at Spring Boot Admin');
      }
      Object.assign(known, { id, isAway: false });
      return true;
    } catch (error) {
      if (!known.isAway && !this.#isEnding) {
        known.isAway = true;
        const { period } = this.#client;
        const text = `Spring Boot Admin does not register this consumer; trying again every ${period}`;
        this.#logger.warn({ server: url, reason: whyNotReached(error) }, text);
      }
      return false;
    }
  }

  async #post(url: string, signal: AbortSignal): Promise<string> {
    const headers = { ...this.#authorization(), 'content-type': 'application/json', accept: 'application/json' };
    const body = JSON.stringify(this.#instance());
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`${url} answered ${response.status}`);
    }
    const id = idOf(await limitedText(response, LARGEST_REGISTRATION));
    if (typeof id !== 'string' || id === '') {
      throw new Error(`${url} answered without an id`);
    }
    return id;
  }

  async #signOff(url: string, id: string): Promise<void> {
    try {
      const signal = AbortSignal.timeout(SIGN_OFF_MS);
      const at = `${url}/instances/${encodeURIComponent(id)}`;
      const response = await fetch(at, {
        method: 'DELETE',
        headers: this.#authorization(),
        signal,
        redirect: 'manual',
      });
      await response.body?.cancel();
      this.#logger.debug({ server: url, id, status: response.status }, 'signed off at Spring Boot Admin');
    } catch (error) {
      this.#logger.debug({ server: url, id, reason: whyNotReached(error) }, 'could not sign off at Spring Boot Admin');
    }
  }

  #authorization(): Record<string, string> {
    const { username, password } = this.#login();
    return username === undefined
      ? {}
      : { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  }
}

/** An answer that is no JSON has no id; the parser's message would quote it, and it may repeat the credentials sent. */
function idOf(answer: string): unknown {
  try {
    return (JSON.parse(answer) as { id?: unknown } | null)?.id;
  } catch {
    return undefined;
  }
}

/** The message of fetch() gives no reason; its cause does, with an empty message where several addresses failed. */
function whyNotReached(error: unknown): string {
  const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
  return maskText(cause?.message || cause?.code || message);
}

const withoutSlash = (url: string): string => url.replace(/\/$/, '');

/** The host of this process's URLs: the Pod's address where Kubernetes sets it, since DNS has no name for a Pod. */
function ownHost(podIp: string | undefined): string {
  const host = podIp || hostname();
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * This process as an instance of Spring Boot Admin.
 *
 * @param port the port that is listened on; the settings may say 0.
 * @param startup the start of this process.
 * @param podIp the address of the Pod. @default the environment variable POD_IP, else the machine's name
 */
export function adminInstance(
  settings: Pick<Settings, 'server' | 'management' | 'spring'>,
  port: number,
  startup: Date,
  podIp = process.env['POD_IP'],
): AdminInstance {
  const { instance } = settings.spring.boot.admin.client;
  const { username, password } = settings.management.security;
  const { scheme, indexPath, healthPath } = managementEndpoint(settings);
  const base = withoutSlash(instance['service-base-url'] ?? `${scheme.toLowerCase()}://${ownHost(podIp)}:${port}`);
  const isSent = instance['send-credentials'] && username !== undefined && password !== undefined;
  return {
    name: instance.name ?? settings.management.metrics.tags['application'] ?? PRODUCT_NAME,
    managementUrl: instance['management-url'] ?? base + indexPath,
    healthUrl: instance['health-url'] ?? base + healthPath,
    serviceUrl: `${base}/`,
    metadata: {
      startup: startup.toISOString(),
      ...(isSent && { 'user.name': username, 'user.password': password }),
      ...instance.metadata,
    },
  };
}
