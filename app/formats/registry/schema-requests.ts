import pLimit from 'p-limit';
import type { Clock } from '../../stream/ports/clock.ts';
import type { RegistryAnswer, RegistryRequests } from './registry-requests.ts';
import type { RegisteredSchema, UnusableSchema } from './schemas.ts';

/** Requests at the same time. */
const MOST_AT_ONCE = 8;

/** A follower of the registry may lag behind the producer: one answer that a schema is unknown proves nothing. */
const ASKED_AGAIN_MS = 5_000;

/** Schemas that a schema refers to, and those that they refer to. */
const MOST_REFERENCES = 200;

/** Bytes of a schema with all that it refers to: a hostile one would take memory and time for good. */
const LARGEST_SCHEMA = 1_048_576;

const TYPES = ['AVRO', 'JSON', 'PROTOBUF'] as const;

/** The context that a subject itself names (Confluent's documentation, "Schema contexts": `:.context:subject`). */
const CONTEXT = /^:\.[^:]*:/;

/** A subject within a context, which is none for an empty one, unless it names one itself. */
const within = (context: string, subject: string): string => (CONTEXT.test(subject) ? subject : context + subject);

/** One schema that another one refers to, as the registry has it. */
interface Reference {
  readonly name: string;
  readonly subject: string;
  readonly version: number;
}

/** Where a schema is that refers to others. */
interface Referring {
  /** The schemas that lead to it: a circle of them would never end. */
  readonly above: readonly string[];
  readonly context: string;
}

/** A schema cannot be used, whatever else the registry has. */
class Unusable extends Error {
  override readonly name = 'Unusable';
  readonly reason: UnusableSchema['reason'];

  constructor(reason: UnusableSchema['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** What a schema refers to, as far as it is found. */
class FoundSchemas {
  readonly id: number;
  readonly #references = new Map<string, { readonly name: string; readonly text: string }>();
  #bytes = 0;

  constructor(id: number, text: string) {
    this.id = id;
    this.count(text);
  }

  get references(): RegisteredSchema['references'] {
    return [...this.#references.values()];
  }

  has(key: string): boolean {
    return this.#references.has(key);
  }

  add(key: string, reference: RegisteredSchema['references'][number]): void {
    this.#references.set(key, reference);
  }

  /** @throws Unusable where following the reference may never end */
  requireEnd(above: readonly string[], key: string): void {
    if (above.includes(key)) {
      throw new Unusable('undecodable', `schema ${this.id} refers to itself by way of others`);
    }
    if (this.#references.size + above.length >= MOST_REFERENCES) {
      throw new Unusable('undecodable', `schema ${this.id} refers to more than ${MOST_REFERENCES} others`);
    }
  }

  /** @throws Unusable for too many bytes */
  count(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > LARGEST_SCHEMA) {
      const all = `schema ${this.id}, with all that it refers to, has more than ${LARGEST_SCHEMA} bytes`;
      throw new Unusable('undecodable', `${all}: so large a one is not read`);
    }
  }
}

function referencesOf(id: number, given: unknown): readonly Reference[] {
  if (given === undefined || given === null) {
    return [];
  }
  const isReference = (each: unknown): each is Reference => {
    const { name, subject, version } = Object(each) as Readonly<Record<string, unknown>>;
    return typeof name === 'string' && typeof subject === 'string' && Number.isInteger(version);
  };
  if (!Array.isArray(given) || !given.every(isReference)) {
    throw new Unusable('undecodable', `schema ${id} has references that no registry gives`);
  }
  return given;
}

/** What was found; why it cannot be used where that is the fault of the schema. */
async function orUnusable(
  id: number,
  find: () => Promise<RegisteredSchema>,
): Promise<RegisteredSchema | UnusableSchema> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof Unusable) {
      return { id, reason: error.reason, words: error.message };
    }
    throw error;
  }
}

/** Asks for schemas with all that they refer to, a few at once. */
export class SchemaRequests {
  readonly #requests: Pick<RegistryRequests, 'get'>;
  /** Before a subject, as {@link CONTEXT}; empty: the registry's default one. */
  readonly #context: string;
  readonly #clock: Pick<Clock, 'wait'>;
  readonly #limit = pLimit(MOST_AT_ONCE);
  /** How many requests have failed, and how the last one did; `null`: one has been answered since. */
  #failures = 0;
  #failure: unknown = null;

  /** @param context in which ids and subjects count. @default the registry's default one */
  constructor(requests: Pick<RegistryRequests, 'get'>, clock: Pick<Clock, 'wait'>, context?: string) {
    this.#requests = requests;
    this.#clock = clock;
    this.#context = context === undefined ? '' : `:.${context}:`;
  }

  /**
   * The schema of an id; why it cannot be used where the registry has none, or none that is decoded with.
   *
   * @throws RegistryAway, RegistryRefused
   */
  schema(id: number): Promise<RegisteredSchema | UnusableSchema> {
    return orUnusable(id, async () => {
      const answer = await this.#twice(this.#pathOf(id));
      if (answer === undefined) {
        throw new Unusable('unknown_schema', `the registry was asked twice for schema ${id}, and has none`);
      }
      return this.#registered(id, answer);
    });
  }

  /** Whether the registry has a schema of the id, asked once. @throws RegistryAway, RegistryRefused */
  async has(id: number): Promise<boolean> {
    return (await this.#get(this.#pathOf(id))) !== undefined;
  }

  /** The latest schema of a subject; `undefined` where it has none. @throws RegistryAway, RegistryRefused */
  async latest(subject: string): Promise<RegisteredSchema | UnusableSchema | undefined> {
    const name = within(this.#context, subject);
    const answer = await this.#get(`/subjects/${encodeURIComponent(name)}/versions/latest`);
    if (answer === undefined) {
      return undefined;
    }
    const id = Number(answer['id']);
    return orUnusable(id, () => this.#registered(id, answer));
  }

  #pathOf(id: number): string {
    const inContext = this.#context === '' ? '' : `?subject=${encodeURIComponent(this.#context)}`;
    return `/schemas/ids/${id}${inContext}`;
  }

  async #registered(id: number, answer: RegistryAnswer): Promise<RegisteredSchema> {
    // Before there were other types, answers named none.
    const given = answer['schemaType'] ?? 'AVRO';
    const type = TYPES.find((known) => known === given);
    if (type === undefined) {
      throw new Unusable('undecodable', `schema ${id} is of a type that is not read`);
    }
    const found = new FoundSchemas(id, answer.schema);
    await this.#follow(found, answer, { above: [], context: this.#context });
    return { id, type, text: answer.schema, references: found.references };
  }

  /**
   * Collects what a schema refers to, each behind all that it refers to itself. A subject is of the context of the
   * schema that refers to it, unless it names one.
   */
  async #follow(found: FoundSchemas, answer: RegistryAnswer, { above, context }: Referring): Promise<void> {
    for (const { name, subject: given, version } of referencesOf(found.id, answer['references'])) {
      const subject = within(context, given);
      const key = JSON.stringify([name, subject, version]);
      if (found.has(key)) {
        continue;
      }
      found.requireEnd(above, key);
      const referred = await this.#twice(`/subjects/${encodeURIComponent(subject)}/versions/${version}?deleted=true`);
      if (referred === undefined) {
        const what = `schema ${found.id} refers to version ${version} of a subject`;
        throw new Unusable('unknown_schema', `${what}: the registry was asked twice for it, and has none`);
      }
      found.count(referred.schema);
      await this.#follow(found, referred, { above: [...above, key], context: CONTEXT.exec(subject)?.[0] ?? '' });
      found.add(key, { name, text: referred.schema });
    }
  }

  async #twice(path: string): Promise<RegistryAnswer | undefined> {
    const answer = await this.#get(path);
    if (answer !== undefined) {
      return answer;
    }
    await this.#clock.wait(ASKED_AGAIN_MS);
    return this.#get(path);
  }

  /** A registry that is away is not asked again by each of those that wait for their turn. */
  #get(path: string): Promise<RegistryAnswer | undefined> {
    const failuresBefore = this.#failures;
    return this.#limit(async () => {
      if (this.#failure !== null && this.#failures > failuresBefore) {
        throw this.#failure;
      }
      try {
        const answer = await this.#requests.get(path);
        this.#failure = null;
        return answer;
      } catch (error) {
        this.#failure = error;
        this.#failures += 1;
        throw error;
      }
    });
  }
}
