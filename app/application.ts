import { EXIT_CODE } from '../contract/exit-code.ts';
import { milliseconds } from '../settings/schema/duration.ts';
import { deadLetterTopic } from '../settings/sections/dead-letters.ts';
import { kafkaWarnings } from '../settings/sections/kafka.ts';
import { topicsOf } from '../settings/sections/tables.ts';
import type { Settings } from '../settings/settings.ts';
import { type CurrentSettings, followSettings, watchSettings } from './configuration/current-settings.ts';
import type { LoadedSettings } from './configuration/load-settings.ts';
import { ClientCertificates } from './credentials/certificates-in-use.ts';
import { messageOf } from './kafka/client/kafka-errors.ts';
import { unpackAtMost } from './kafka/codecs/codecs.ts';
import { KafkaDeadLetterTopic } from './kafka/dead-letter-producer.ts';
import { createKafkaCheck, KafkaAdmin } from './kafka/kafka-admin.ts';
import { createKafkaClient, shareByClients } from './kafka/kafka-client.ts';
import { createKafkaSource, type KafkaSource } from './kafka/kafka-source.ts';
import type { Logger } from './logging/logger.ts';
import { OutageLog, type OutageWatch, watchedCheck } from './logging/outage-log.ts';
import { createManagement, type Management } from './management/create-management.ts';
import { ListenError } from './management/listening.ts';
import { processMemory } from './memory/memory-budget.ts';
import type { ProductBuild } from './metrics/process/product-build.ts';
import { shutDown } from './shutdown.ts';
import { DatabasePool } from './store/connection/database-pool.ts';
import { REFUSAL_PAUSES_MS, ROTATION_PAUSES_MS } from './store/connection/refused-connections.ts';
import { describeDatabaseError } from './store/connection/sqlstate.ts';
import { createDatabaseCheck } from './store/database-check.ts';
import { PostgresSink } from './store/postgres-sink.ts';
import { TableLocks } from './store/tables/table-locks.ts';
import { sessionName } from './store/transaction/frozen-writers.ts';
import { sendCommitHints } from './stream/commit-hints.ts';
import { pollLogEnds } from './stream/partition/lag.ts';
import { Retries } from './stream/partition/retries.ts';
import { watchStoredPositions } from './stream/partition/stored-positions.ts';
import { Pipeline, type PipelineOptions } from './stream/pipeline.ts';
import { systemClock } from './stream/ports/clock.ts';
import { FatalError } from './stream/ports/stream-errors.ts';
import { streamLog, tellAll } from './stream/ports/stream-listener.ts';
import { UnmappedLog } from './tables/json/unmapped-fields.ts';
import { UserTables } from './tables/table/user-tables.ts';

/** A health check's client gives up at its first failure: the next check comes soon. */
const NO_RETRIES = 0;

function pipelineOptions(settings: Settings): PipelineOptions {
  const { consumer, kafka } = settings;
  const { groupId, sessionTimeout } = kafka;
  const stallTimeoutMs = milliseconds(consumer.stallTimeout);
  const groupTimeoutMs = Math.max(stallTimeoutMs, milliseconds(sessionTimeout));
  return { ...consumer, groupId, topics: topicsOf(settings), stallTimeoutMs, groupTimeoutMs };
}

/** Codes that the start of another Pod with the same settings would meet again. */
const OF_CONFIGURATION: ReadonlySet<string> = new Set([
  'GROUP_WRITES_ELSEWHERE',
  'GROUP_MEETS_ANOTHER',
  'TABLES_DO_NOT_FIT',
]);

const SHARED =
  'other groups fill these tables from the same topics, so each record is written once by each group: fill another table, ' +
  'or consent with tables[].sharedWithGroups: true';

const contentionOf = (table: string): string =>
  `transactions of ${table} have waited for each other, so keys of it are in several partitions: which record comes last ` +
  'there is undefined; from now on its transactions that delete rows are written one after the other';

/**
 * The consumer as a whole: makes its parts, starts them in the order in which they need each other, and shuts them down
 * in the order in which nothing is lost (shutdown.ts).
 */
export class Application {
  /** Settles with the exit code when everything is closed. */
  readonly ended: Promise<number>;
  readonly #settings: Settings;
  readonly #current: CurrentSettings;
  readonly #management: Management;
  readonly #pool: DatabasePool;
  readonly #locks: TableLocks;
  readonly #sink: PostgresSink;
  readonly #tables: UserTables;
  readonly #source: KafkaSource;
  readonly #deadLetterTopic: KafkaDeadLetterTopic;
  readonly #pipeline: Pipeline;
  readonly #checks: readonly { close(): Promise<void> }[];
  readonly #ending = new AbortController();
  readonly #background: Promise<void>[] = [];
  #resolveEnded: (exitCode: number) => void = () => undefined;
  #stopping: Promise<void> | null = null;
  #exitCode: number = EXIT_CODE.ok;
  /** PostgreSQL has let it in, so what it refuses later may only have been rotated. */
  #hasWorked = false;

  /** @param reload reads the settings anew: credentials and certificates may change while the process runs */
  constructor(settings: Settings, build: ProductBuild, reload: () => LoadedSettings) {
    this.#settings = settings;
    unpackAtMost(settings.consumer.maxUnpackedBytes);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    const logger = () => this.#management.logger;
    const certificates = new ClientCertificates(logger);
    this.#current = followSettings(settings, { load: reload, logger, clock: systemClock, certificates });
    const connectionFailed = () => this.#management.databaseConnectionFailed();
    const outages = {
      database: new OutageLog('PostgreSQL', logger),
      kafka: new OutageLog('Kafka', logger, { onFailure: () => this.#management.client.onAway() }),
    };
    const database = () => this.#current().database;
    const databaseCheck = createDatabaseCheck(database, connectionFailed);
    const currentKafka = () => this.#current().kafka;
    const clients = shareByClients(currentKafka, logger, (error) => this.#fail(error));
    const kafkaCheck = createKafkaCheck(() => createKafkaClient(clients, NO_RETRIES));
    this.#checks = [databaseCheck, kafkaCheck];
    this.#management = createManagement({
      settings,
      current: this.#current,
      clientCertificates: () => certificates.expiries,
      build,
      report: () => this.#pipeline.report(),
      pool: () => this.#pool.figures(),
      checkDatabase: watchedCheck(databaseCheck.check, outages.database.of('health check'), describeDatabaseError),
      checkKafka: watchedCheck(kafkaCheck.check, outages.kafka.of('health check'), messageOf),
    });
    this.#locks = new TableLocks({ settings, current: database, logger, signal: this.#ending.signal });
    this.#pool = this.#createPool(connectionFailed, outages.database.of('writers'));
    const kafka = createKafkaClient(clients);
    this.#deadLetterTopic = new KafkaDeadLetterTopic(settings.deadLetters, kafka, systemClock);
    this.#tables = new UserTables(settings, {
      unmapped: new UnmappedLog(logger),
      onContended: (table) => logger().warn({ table }, contentionOf(table)),
    });
    this.#sink = this.#createSink(logger);
    this.#source = createKafkaSource({ ...settings.kafka, topics: topicsOf(settings) }, kafka, {
      admin: new KafkaAdmin(kafka),
      clock: systemClock,
      logger: logger(),
      memory: processMemory,
      watcher: this.#management.client,
      outages: outages.kafka.of('consumer'),
      storedPositions: (topics) => this.#sink.positions(topics),
      place: () => this.#sink.place(),
    });
    this.#pipeline = new Pipeline(pipelineOptions(settings), {
      source: this.#source,
      sink: this.#management.measured(this.#sink),
      listener: tellAll([this.#management.listener, streamLog(logger(), (error) => this.#locks.hasLogged(error))]),
      clock: systemClock,
      memory: processMemory,
      onFatal: (error) => this.#fail(error),
    });
  }

  /**
   * Starts everything, waiting for PostgreSQL and Kafka as long as they are away. Never rejects: a failure ends the
   * application.
   */
  async start(): Promise<void> {
    const { kafka, database } = this.#settings;
    try {
      const address = await this.#management.start().catch((error: unknown) => {
        throw error instanceof ListenError ? new FatalError('LISTEN_FAILED', error.message, { cause: error }) : error;
      });
      const { groupId } = kafka;
      const topics = topicsOf(this.#settings);
      this.#background.push(watchSettings(this.#current, systemClock, this.#ending.signal));
      for (const warning of kafkaWarnings(kafka)) {
        this.#management.logger.warn(warning);
      }
      this.#management.logger.info({ address, topics, groupId, schema: database.schema }, 'listening');
      await this.#migrate();
      if (this.#ending.signal.aborted) {
        return;
      }
      this.#hasWorked = true;
      this.#management.ready();
      const { signal } = this.#ending;
      this.#background.push(
        pollLogEnds(this.#source, this.#pipeline, systemClock, signal),
        sendCommitHints(this.#source, this.#pipeline, systemClock, signal),
        this.#watchStoredPositions(),
        this.#warnOfMissingTopics(),
      );
      await this.#source.start(this.#pipeline);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Ends everything in order, in `shutdown.timeout` at most. Calling it again joins the first call. */
  stop(reason: string): Promise<void> {
    this.#stopping ??= this.#shutDown(reason);
    return this.#stopping;
  }

  #createSink(logger: () => Logger): PostgresSink {
    return new PostgresSink(
      this.#pool,
      this.#settings,
      this.#deadLetterTopic,
      {
        onEnded: (session) =>
          logger().warn(
            session,
            'ended the session of a frozen writer of this group: it held an offset of a partition',
          ),
        onShared: (tables) => logger().warn({ tables }, SHARED),
      },
      () => this.#tables.targets,
    );
  }

  #createPool(connectionFailed: () => void, outages: OutageWatch): DatabasePool {
    return new DatabasePool(this.#settings.database, connectionFailed, {
      times: this.#management.connections,
      outages,
      sessionName: sessionName(this.#settings.kafka.groupId),
      current: () => this.#current().database,
      refusalPausesMs: () => (this.#hasWorked ? ROTATION_PAUSES_MS : REFUSAL_PAUSES_MS),
      warn: (warning) => this.#management.logger.warn(warning),
      onSlow: () => void this.#locks.look(),
    });
  }

  async #shutDown(reason: string): Promise<void> {
    await shutDown(
      {
        management: this.#management,
        pipeline: this.#pipeline,
        source: this.#source,
        closedLast: [this.#pool, this.#deadLetterTopic, ...this.#checks],
        ending: this.#ending,
        background: this.#background,
      },
      { reason, timeoutMs: milliseconds(this.#settings.shutdown.timeout), exitCode: () => this.#exitCode },
    );
    this.#resolveEnded(this.#exitCode);
  }

  #fail(error: unknown): void {
    const fatal = FatalError.from(error);
    this.#exitCode = OF_CONFIGURATION.has(fatal.code) ? EXIT_CODE.configuration : EXIT_CODE.failed;
    this.#management.logger.fatal({ code: fatal.code }, fatal.message);
    void this.stop('a fatal error');
  }

  async #migrate(): Promise<void> {
    const { logger } = this.#management;
    const { schema } = this.#settings.database;
    const prepare = async () => {
      const versions = await this.#sink.migrate();
      await this.#pool.withClient((client) => this.#tables.read(client));
      return { versions, unknown: await this.#sink.unknownVersions() };
    };
    let told = '';
    const prepared = await new Retries(systemClock).until(prepare, this.#ending.signal, {
      onOutage: ({ message: reason }) => {
        if (reason !== told) {
          told = reason;
          logger.warn({ reason }, 'waiting for PostgreSQL');
        }
      },
    });
    if (prepared !== undefined && prepared.versions.length > 0) {
      logger.info({ schema, versions: prepared.versions }, 'created or upgraded the tables');
    }
    if (prepared !== undefined && prepared.unknown.length > 0) {
      const consequence = 'it writes to them as it knows them, as after a rollback; newer columns stay empty';
      logger.warn({ schema, versions: prepared.unknown }, `the tables are newer than this program: ${consequence}`);
    }
  }

  #watchStoredPositions(): Promise<void> {
    const { signal } = this.#ending;
    return watchStoredPositions(this.#pipeline, this.#sink, {
      clock: systemClock,
      signal,
      onBehind: ({ topic, partition, offset }, known) => {
        const consequence = 'what is ahead of it is read and written again, after a failover or a restore';
        const offsets = { storedOffset: offset.toString(), known: known.toString() };
        this.#management.logger.warn({ topic, partition, ...offsets }, `the stored offset went back: ${consequence}`);
      },
    });
  }

  /** The first dead letter may be weeks away, and without its topic it holds up its partition. */
  async #warnOfMissingTopics(): Promise<void> {
    const { deadLetters } = this.#settings;
    const read = deadLetters.to === 'table' ? [] : topicsOf(this.#settings);
    const topics = read.map((topic) => deadLetterTopic(deadLetters, topic));
    const missing = await this.#deadLetterTopic.missing(topics).catch(() => []);
    if (missing.length > 0) {
      const consequence = 'the first dead letter will hold up its partition until they are created';
      this.#management.logger.error({ topics: missing }, `topics for dead letters do not exist: ${consequence}`);
    }
  }
}
