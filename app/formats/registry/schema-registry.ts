import type { SchemaRequestOutcome } from '../../../contract/metrics/definition.ts';
import { type FormatsPart, registrySides, registryTopics } from '../../../settings/sections/formats.ts';
import type { SchemaRegistrySettings } from '../../../settings/sections/schema-registry.ts';
import { isTemplate } from '../../../settings/sections/tables/topic-template.ts';
import type { Settings } from '../../../settings/settings.ts';
import type { OutageWatch } from '../../logging/outage-log.ts';
import type { Clock } from '../../stream/ports/clock.ts';
import { FatalError, OutageError } from '../../stream/ports/stream-errors.ts';
import { RegistryAway, RegistryRefused, RegistryRequests } from './registry-requests.ts';
import { SchemaCache } from './schema-cache.ts';
import { SchemaRequests } from './schema-requests.ts';
import { isUsable, type RegisteredSchema, type Schemas, type UnusableSchema } from './schemas.ts';

/** Schemas that are kept: their ids never change, so none of them ends. */
const MOST_SCHEMAS = 1_000;
/** Ids without a usable schema that are kept, and those that the registry could not answer about. */
const MOST_VERDICTS = 10_000;

/** So long an unknown schema is not asked for again: a wave of them costs one wait for each batch. */
const UNKNOWN_MS = 60_000;

const FIRST_REPEAT_MS = 200;
const LONGEST_REPEAT_MS = 30_000;

/** A verdict on an id, and when it is asked for again, in milliseconds of the steady clock. */
interface Verdict {
  readonly schema: UnusableSchema;
  readonly until: number;
}

/** An id that the registry could not answer about. */
interface Failed {
  readonly failures: number;
  readonly retryAt: number;
  readonly words: string;
}

/** What the registry works with. */
interface SchemaRegistryOptions {
  /** The settings of the moment: each request is made with the newest credentials and certificates. */
  readonly current: () => SchemaRegistrySettings;
  /** Subjects of the topics that are read: the registry has a schema of one of them, unless it has lost its data. */
  readonly subjects: readonly string[];
  readonly clock: Pick<Clock, 'steady' | 'wait'>;
  readonly outages: OutageWatch;
  /** Called for each answer of the registry. @default nothing */
  readonly onOutcome?: (outcome: SchemaRequestOutcome) => void;
}

/** The same, with all settings. */
interface RegistryConnection extends Omit<SchemaRegistryOptions, 'current' | 'subjects'> {
  readonly current: () => Pick<Settings, 'schemaRegistry'>;
  /** Topics that are read now by templates of `formats`. @default none */
  readonly topics?: () => readonly string[];
}

/**
 * The schemas of a registry: each is asked for once, and what the registry cannot answer is an outage, never a dead
 * letter.
 *
 * Why no record is lost to the registry: a record becomes a dead letter only by a verdict on its id, and there are two.
 * Either its schema came and cannot be used, which no waiting changes. Or a registry that has other schemas answered
 * twice, 5 s apart, that it does not have this one, and a third time behind its answer about another one. All else
 * rejects before a transaction begins, so the record stays ahead of the stored offset.
 */
export class SchemaRegistry implements Schemas {
  readonly #requests: RegistryRequests;
  readonly #schemas: SchemaRequests;
  readonly #options: SchemaRegistryOptions;
  readonly #known = new SchemaCache<RegisteredSchema>(MOST_SCHEMAS);
  readonly #verdicts = new SchemaCache<Verdict>(MOST_VERDICTS);
  readonly #failed = new SchemaCache<Failed>(MOST_VERDICTS);
  readonly #asking = new Map<number, Promise<void>>();
  /** Ids of the largest batch: all of them are known at once. */
  #needed = 0;
  #dataCheck: Promise<boolean> | null = null;

  constructor(options: SchemaRegistryOptions) {
    this.#options = options;
    this.#requests = new RegistryRequests(options.current, options.onOutcome ?? (() => undefined));
    this.#schemas = new SchemaRequests(this.#requests, options.clock, options.current().context);
  }

  /** How many schemas are kept. */
  get size(): number {
    return this.#known.size;
  }

  of(id: number): RegisteredSchema | UnusableSchema | undefined {
    return this.#known.get(id) ?? this.#verdicts.get(id)?.schema;
  }

  async fetch(ids: ReadonlySet<number>): Promise<void> {
    this.#needed = Math.max(this.#needed, ids.size);
    const missing = [...ids].filter((id) => this.#isMissing(id));
    // The others of a batch are asked for even where one fails: the next attempt has less to ask for.
    const results = await Promise.allSettled(missing.map((id) => this.#askOnce(id)));
    for (const result of results) {
      if (result.status === 'rejected') {
        throw result.reason;
      }
    }
  }

  /**
   * Asks for the latest schema of each subject: a login or a path that is wrong is found at the start. An outage is
   * nothing that the start waits for.
   *
   * @throws FatalError `REGISTRY_REFUSED`
   */
  async check(): Promise<void> {
    try {
      await Promise.all(this.#options.subjects.map((subject) => this.latest(subject)));
    } catch (error) {
      if (!(error instanceof OutageError)) {
        throw error;
      }
    }
  }

  /**
   * The latest schema of a subject; `undefined` where it has none.
   *
   * @throws OutageError `registry_away`, FatalError `REGISTRY_REFUSED`
   */
  async latest(subject: string): Promise<RegisteredSchema | UnusableSchema | undefined> {
    try {
      return await this.#schemas.latest(subject);
    } catch (error) {
      if (error instanceof RegistryRefused) {
        const { credentialsFrom } = this.#options.current();
        const origin = credentialsFrom === undefined ? '' : `. The credentials are those of ${credentialsFrom}`;
        const message = `the schema registry refuses: ${error.message}. Then start again${origin}`;
        throw new FatalError('REGISTRY_REFUSED', message, { cause: error });
      }
      if (error instanceof RegistryAway) {
        this.#options.outages.failed(error.message);
        throw outageOf(error.message, 0);
      }
      throw error;
    }
  }

  /** Closes the connections to the registry. */
  close(): Promise<void> {
    return this.#requests.close();
  }

  #isMissing(id: number): boolean {
    if (this.#known.get(id) !== undefined) {
      return false;
    }
    const verdict = this.#verdicts.get(id);
    return verdict === undefined || this.#now() >= verdict.until;
  }

  /** One request at a time serves all that need the schema. */
  #askOnce(id: number): Promise<void> {
    const asking =
      this.#asking.get(id) ??
      this.#ask(id).finally(() => {
        this.#asking.delete(id);
      });
    this.#asking.set(id, asking);
    return asking;
  }

  /** @throws OutageError where the registry cannot answer, or could not and is not asked again yet */
  async #ask(id: number): Promise<void> {
    const failed = this.#failed.get(id);
    if (failed !== undefined && this.#now() < failed.retryAt) {
      throw outageOf(failed.words, failed.retryAt - this.#now());
    }
    try {
      const schema = await this.#watched(this.#answer(id));
      this.#failed.delete(id);
      if (isUsable(schema)) {
        this.#verdicts.delete(id);
        this.#known.set(id, schema, this.#needed);
      } else {
        const isFinal = schema.reason === 'undecodable';
        const until = isFinal ? Number.POSITIVE_INFINITY : this.#now() + UNKNOWN_MS;
        this.#verdicts.set(id, { schema, until }, this.#needed);
      }
    } catch (error) {
      if (!(error instanceof RegistryAway || error instanceof RegistryRefused)) {
        throw error;
      }
      throw this.#fail(id, error);
    }
  }

  /** @throws RegistryAway where the schema is unknown to a registry that knows nothing else either */
  async #answer(id: number): Promise<RegisteredSchema | UnusableSchema> {
    const schema = await this.#schemas.schema(id);
    if (isUsable(schema) || schema.reason !== 'unknown_schema') {
      return schema;
    }
    if (!(await this.#hasData())) {
      const others = [this.#known.leastUsed, ...this.#options.subjects].filter((other) => other !== undefined);
      throw new RegistryAway(
        `the registry has neither schema ${id} nor ${others.join(', ')}: it has lost its data, or schemaRegistry.url names another one. Restore it, or correct schemaRegistry.url`,
      );
    }
    // It may have got its data back behind its answers about the schema.
    return (await this.#schemas.has(id)) ? this.#schemas.schema(id) : schema;
  }

  /** Whether the registry knows any schema that it has to know; one question at a time serves all that ask. */
  #hasData(): Promise<boolean> {
    this.#dataCheck ??= this.#findData().finally(() => {
      this.#dataCheck = null;
    });
    return this.#dataCheck;
  }

  async #findData(): Promise<boolean> {
    const known = this.#known.leastUsed;
    if (known !== undefined && (await this.#schemas.has(known))) {
      return true;
    }
    for (const subject of this.#options.subjects) {
      if ((await this.#schemas.latest(subject)) !== undefined) {
        return true;
      }
    }
    return false;
  }

  /** Asked for later and later: from 0.2 to 30 s, or when the registry asks for. */
  #fail(id: number, error: RegistryAway | RegistryRefused): OutageError {
    const before = this.#failed.get(id)?.failures ?? 0;
    const asked = error instanceof RegistryAway ? error.retryAfterMs : 0;
    const pauseMs = Math.max(asked, Math.min(LONGEST_REPEAT_MS, FIRST_REPEAT_MS * 2 ** Math.min(before, 16)));
    const failed = { failures: before + 1, retryAt: this.#now() + pauseMs, words: error.message };
    this.#failed.set(id, failed, this.#needed);
    return outageOf(error.message, pauseMs);
  }

  /** Feeds the log with what the registry answers. */
  async #watched<T>(asking: Promise<T>): Promise<T> {
    const { outages } = this.#options;
    try {
      const answer = await asking;
      outages.worked();
      return answer;
    } catch (error) {
      if (error instanceof RegistryAway || error instanceof RegistryRefused) {
        outages.failed(error.message);
      }
      throw error;
    }
  }

  #now(): number {
    return this.#options.clock.steady().getTime();
  }
}

/**
 * The subjects of topics whose keys or values have schemas in the registry, as serializers name them by default.
 *
 * @param read topics that templates of `formats` may match
 */
export function registrySubjects(settings: FormatsPart, read: readonly string[]): readonly string[] {
  const named = registryTopics(settings).filter((topic) => !isTemplate(topic));
  return [...new Set([...named, ...read])].flatMap((topic) =>
    registrySides(settings, topic).map((side) => `${topic}-${side}`),
  );
}

/** The registry of the settings; `undefined` where they have none. */
export function createRegistry(
  { schemaRegistry, ...settings }: Pick<Settings, 'formats' | 'schemaRegistry'>,
  { current, topics = () => [], ...options }: RegistryConnection,
): SchemaRegistry | undefined {
  return (
    schemaRegistry &&
    new SchemaRegistry({
      ...options,
      current: () => current().schemaRegistry ?? schemaRegistry,
      get subjects() {
        return registrySubjects(settings, topics());
      },
    })
  );
}

const outageOf = (words: string, retryAfterMs: number): OutageError =>
  new OutageError(`the schema registry cannot answer: ${words}`, { reason: 'registry_away', retryAfterMs });
