import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { TemplateTopics } from '../../../app/kafka/template-topics.ts';
import { systemClock } from '../../../app/stream/ports/clock.ts';
import { OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { ReadTopics } from '../../../app/topics/read-topics.ts';
import { load, yaml } from '../configuration/loading.ts';

const nothing = () => undefined;
const logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, fatal: nothing };

const SETTINGS = load({
  cwd: yaml("tables: [{ topic: 'shop.{region}.{table}', table: 'public.{table}', key: primary }]"),
});

/** Three topics for each of two tables, in any order. */
const TOPICS = ['de', 'fr', 'it'].flatMap((region) => ['orders', 'items'].map((table) => `shop.${region}.${table}`));

const BROKERS = 3;
const PROCESSES = 3;

/** Brokers that learn of topics in the order in which these are created, each at another time. */
class Cluster {
  readonly processes: readonly Process[] = Array.from({ length: PROCESSES }, () => new Process(this));
  /** Topics that were opened to be written, by their tables. */
  readonly written = new Map<string, Set<string>>();
  waited = 0;
  readonly #order: readonly string[];
  #created = 0;
  readonly #known = Array.from({ length: BROKERS }, () => 0);

  constructor(order: readonly string[]) {
    this.#order = order;
  }

  create(): void {
    this.#created = Math.min(this.#order.length, this.#created + 1);
  }

  learn(broker: number): void {
    this.#known[broker] = Math.min(this.#created, (this.#known[broker] ?? 0) + 1);
  }

  list(broker: number): readonly string[] {
    return this.#order.slice(0, this.#known[broker]);
  }

  /** The group assigns a topic that some broker has. */
  async open(process: Process | undefined, topic: string): Promise<void> {
    if (process === undefined || !this.#order.slice(0, this.#created).includes(topic)) {
      return;
    }
    if (await process.opens(topic)) {
      const table = topic.split('.').at(-1) ?? '';
      this.written.set(table, (this.written.get(table) ?? new Set()).add(topic));
    } else {
      this.waited += 1;
    }
  }
}

/** A process, whose next list comes from any broker. */
class Process {
  readonly topics = new ReadTopics(SETTINGS);
  #broker = 0;
  readonly #found: TemplateTopics;
  readonly #owned = new Set<string>();

  constructor(cluster: Cluster) {
    this.#found = new TemplateTopics({
      topics: this.topics,
      admin: {
        listTopics: async () => cluster.list(this.#broker),
        topicIds: async () => new Map(),
        logRanges: async () => [],
        committedOffsets: async () => [],
        describeTopics: async () => [],
      },
      store: {
        begunTemplates: async () => new Set(),
        storedTopics: async () => [],
        beginTemplates: async () => undefined,
      },
      ...{ groupId: 'group', startFrom: 'earliest', refreshMs: 1_000, clock: systemClock, logger, onUnlisted: nothing },
    });
  }

  /** The same, whose next list comes from this broker. */
  asking(broker: number): this {
    this.#broker = broker;
    return this;
  }

  async list(broker: number): Promise<void> {
    await this.asking(broker).#found.list();
  }

  /** Whether it writes the topic from now on, which it owns now. */
  async opens(topic: string): Promise<boolean> {
    this.#owned.add(topic);
    this.#found.assigned([...this.#owned].map((each) => ({ topic: each, partition: 0 })));
    try {
      await this.#found.requireListed([topic]);
    } catch (error) {
      expect(error).toBeInstanceOf(OutageError);
      return false;
    }
    return !this.topics.waiting.has(topic);
  }
}

const aBroker = fc.nat({ max: BROKERS - 1 });
const aProcess = fc.nat({ max: PROCESSES - 1 });

type Step = (cluster: Cluster) => Promise<void> | void;

const aStep: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>((cluster) => cluster.create()),
  aBroker.map(
    (broker): Step =>
      (cluster) =>
        cluster.learn(broker),
  ),
  fc.tuple(aProcess, aBroker).map(
    ([nth, broker]): Step =>
      (cluster) =>
        cluster.processes[nth]?.list(broker),
  ),
  fc.tuple(aProcess, aBroker, fc.constantFrom(...TOPICS)).map(
    ([nth, broker, topic]): Step =>
      async (cluster) => {
        await cluster.open(cluster.processes[nth]?.asking(broker), topic);
      },
  ),
);

const someSteps = fc.array(aStep, { maxLength: 60, size: 'max' });

test('of topics that share a table by its braces one is written at most, whichever processes own them', async () => {
  let [written, waited] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(TOPICS, { minLength: 2 }), someSteps, async (order, steps) => {
      const cluster = new Cluster(order);
      for (const step of steps) {
        await step(cluster);
      }
      for (const topics of cluster.written.values()) {
        expect([...topics]).toHaveLength(1);
      }
      written += cluster.written.size;
      waited += cluster.waited;
    }),
    { numRuns: 500 },
  );
  expect([written > 100, waited > 100]).toEqual([true, true]);
});
