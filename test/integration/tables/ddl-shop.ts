import { expect } from '@jest/globals';
import { stringify } from 'yaml';
import { RegistryStub } from '../../app/formats/registry/registry-stub.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce, type TestRecord } from '../stack/kafka-client.ts';
import { IS_LONG_RUN } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { sharedBroker, sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { type Capture, capturedRecords } from './captures.ts';

/** Names of topics in the settings, and the records that each has. */
type Topics = Readonly<Record<string, readonly TestRecord[]>>;

interface Given {
  readonly topics?: Topics;
  readonly formats?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

/** An entry of `tables`, with the names of {@link DdlPlace}. */
interface Entry {
  readonly topic: string | readonly string[];
  readonly table: string;
  readonly [setting: string]: unknown;
}

/** Settings and their topics: what is called `shop` and `consumer_role` here, and each topic, has a random name. */
class DdlPlace {
  readonly #shop: DdlShop;
  readonly #topics = new Map<string, string>();
  #settings = '';

  constructor(shop: DdlShop) {
    this.#shop = shop;
  }

  async fill(tables: readonly Entry[], { topics = {}, formats = {} }: Given): Promise<this> {
    for (const [name, records] of Object.entries(topics)) {
      const topic = await createTopic({
        partitions: 1 + Math.max(0, ...records.map(({ partition = 0 }) => partition)),
      });
      this.#topics.set(name, topic);
      await (records.length > 0 && produce(topic, records));
    }
    const real = tables.map(({ topic, table, ...entry }) => ({
      ...entry,
      topic: [topic].flat().map((name) => this.topic(name)),
      table: this.#shop.real(table),
    }));
    const formatsOfTopics = Object.entries(formats).map(([name, format]) => [this.topic(name), format]);
    this.#settings = stringify({
      tables: real,
      formats: Object.fromEntries(formatsOfTopics),
      schemaRegistry: { url: this.#shop.registry.url, timeout: '1s' },
    });
    return this;
  }

  topic(name: string): string {
    return this.#topics.get(name) ?? name;
  }

  async run(args: readonly string[], env = {}) {
    const url = new URL(sharedDatabaseUrl());
    url.username = this.#shop.role;
    const { code, stdout, stderr } = await runCommand(['tables', ...args.map((word) => this.topic(word))], {
      env: { ...databaseEnvironment(url.href, 'unused'), KAFKA_BROKERS: sharedBroker(), ...env },
      files: { 'application.yml': this.#settings },
    });
    return { code, stdout: this.#shown(stdout), stderr: this.#shown(stderr) };
  }

  #shown(text: string): string {
    const names = [['shop', this.#shop.schema] as const, ['consumer_role', this.#shop.role] as const, ...this.#topics];
    return names.reduce((made, [name, real]) => made.replaceAll(real, name), text);
  }
}

/** A schema for the printed tables, a role that owns nothing, and a registry. */
export class DdlShop {
  readonly schema = randomName('shop');
  readonly role = randomName('role');
  readonly registry = new RegistryStub();

  async start(): Promise<void> {
    await this.registry.start();
    await query(`CREATE ROLE ${this.role} LOGIN PASSWORD '${new URL(sharedDatabaseUrl()).password}'`);
  }

  async stop(): Promise<void> {
    await this.registry.stop();
    await query(`DROP SCHEMA IF EXISTS ${this.schema} CASCADE; DROP OWNED BY ${this.role}; DROP ROLE ${this.role}`);
  }

  real(text: string): string {
    return text.replaceAll(/\bshop\b/g, this.schema).replaceAll('consumer_role', this.role);
  }

  /** The owner runs statements. */
  async execute(text: string): Promise<void> {
    await query(this.real(text));
  }

  place(tables: readonly Entry[], given: Given): Promise<DdlPlace> {
    return new DdlPlace(this).fill(tables, given);
  }

  /** `tables ddl` as a role that owns nothing. */
  async ddl(tables: readonly Entry[], given: Given = {}) {
    const place = await this.place(tables, given);
    return { place, ...(await place.run(['ddl', ...(given.args ?? [])], given.env)) };
  }

  /**
   * The same; then an owner runs what was printed, and `tables check` has to be content. `npm run test:long` also
   * prints it again, and then nothing may be missing.
   */
  async printed(tables: readonly Entry[], given: Given = {}): Promise<string> {
    const { place, code, stdout, stderr } = await this.ddl(tables, given);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    await this.execute(stdout);
    const checked = await place.run(['check'], given.env);
    expect({ code: checked.code, stderr: checked.stderr }).toEqual({ code: 0, stderr: '' });
    if (IS_LONG_RUN) {
      const again = await place.run(['ddl', ...(given.args ?? [])], given.env);
      expect(again.stdout.split('\n').filter((line) => line !== '' && !line.startsWith('--'))).toEqual([]);
    }
    await this.execute('DROP SCHEMA shop CASCADE');
    return stdout;
  }
}

export const valuesOf = (...values: readonly unknown[]): readonly TestRecord[] =>
  values.map((value) => ({ value: typeof value === 'string' || value === null ? value : JSON.stringify(value) }));

export const captured = (capture: Capture, table: string): readonly TestRecord[] =>
  capturedRecords(capture, table).map(({ key = null, value }) => ({
    key,
    value: typeof value === 'string' || Buffer.isBuffer(value) ? value : null,
  }));
