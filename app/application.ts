import type { FastifyBaseLogger } from 'fastify';
import type { Kafka } from 'kafkajs';
import { EXIT_CODE } from '../contract/exit-code.ts';
import { helpOf } from '../contract/fatal-codes.ts';
import { milliseconds } from '../settings/schema/duration.ts';
import { formatsOf } from '../settings/sections/formats.ts';
import type { Settings } from '../settings/settings.ts';
import { type CurrentSettings, followSettings, watchSettings } from './configuration/current-settings.ts';
import type { LoadedSettings } from './configuration/load-settings.ts';
import { ClientCertificates } from './credentials/certificates-in-use.ts';
import { FieldReaders } from './formats/field-readers.ts';
import { schemasFirst } from './formats/prepare-schemas.ts';
import { recordDecoders } from './formats/record-decoders.ts';
import { createRegistry, type SchemaRegistry } from './formats/registry/schema-registry.ts';
import { failureText } from './kafka/client/kafka-errors.ts';
import { unpackAtMost } from './kafka/codecs/codecs.ts';
import { KafkaDeadLetterTopic } from './kafka/dead-letter-producer.ts';
import { createKafkaCheck, KafkaAdmin } from './kafka/kafka-admin.ts';
import { createKafkaClient, shareByClients } from './kafka/kafka-client.ts';
import { createKafkaSource, type KafkaSource } from './kafka/kafka-source.ts';
import { openReaderBeside } from './kafka/topic-reader.ts';
import { createProcessLog } from './logging/logger.ts';
import { type OutageWatch, watchedCheck } from './logging/outage-log.ts';
import { createManagement, type Management } from './management/create-management.ts';
import { ListenError } from './management/listening.ts';
import { processMemory } from './memory/memory-budget.ts';
import { LogEvents } from './metrics/process/process.ts';
import type { ProductBuild } from './metrics/process/product-build.ts';
import { shutDown } from './shutdown.ts';
import { logsOf, pipelineOptions, prepareTables, warnOfMissingTopics, watchOutages } from './start-up.ts';
import { DatabasePool } from './store/connection/database-pool.ts';
import { REFUSAL_PAUSES_MS, ROTATION_PAUSES_MS } from './store/connection/refused-connections.ts';
import { describeDatabaseError } from './store/connection/sqlstate.ts';
import { ConnectionCheck } from './store/database-check.ts';
import { PostgresSink } from './store/postgres-sink.ts';
import { KeptLetters } from './store/tables/kept-letters.ts';
import { TableLocks } from './store/tables/table-locks.ts';
import { sessionName } from './store/transaction/frozen-writers.ts';
import { Pipeline } from './stream/pipeline.ts';
import { pollLogEnds } from './stream/poll-log-ends.ts';
import { systemClock } from './stream/ports/clock.ts';
import { FatalError, OF_CONFIGURATION } from './stream/ports/stream-errors.ts';
import { notifyAll, streamLog } from './stream/ports/stream-listener.ts';
import { sendCommitHints, watchStoredPositions } from './stream/stored-positions.ts';
import { WaitingRetention } from './stream/waiting-retention.ts';
import { UnmappedLog } from './tables/json/unmapped-fields.ts';
import { MappedTables } from './tables/table/mapped-tables.ts';
import { ReadTopics, waitForConflicts } from './topics/read-topics.ts';

/** A health check's client gives up at its first failure: the next check comes soon. */
const NO_RETRIES = 0;

/**
 * The consumer as a whole: makes its parts, starts them in the order in which they need each other, and shuts them down
 * in the order in which nothing is lost (shutdown.ts).
 */
export class Application {
  /** Settles with the exit code when everything is closed. */
  readonly ended: Promise<number>;
  readonly #settings: Settings;
  readonly #current: CurrentSettings;
  readonly #topics: ReadTopics;
  readonly #logger: FastifyBaseLogger;
  readonly #management: Management;
  readonly #pool: DatabasePool;
  readonly #locks: TableLocks;
  readonly #letters: KeptLetters;
  readonly #sink: PostgresSink;
  readonly #readers: FieldReaders;
  readonly #tables: MappedTables;
  readonly #source: KafkaSource;
  readonly #deadLetterTopic: KafkaDeadLetterTopic;
  readonly #retention: WaitingRetention;
  readonly #pipeline: Pipeline;
  /** `undefined` where no topic has schemas. */
  readonly #registry: SchemaRegistry | undefined;
  readonly #closedLast: readonly { close(): Promise<void> }[];
  readonly #ending = new AbortController();
  readonly #closing = new AbortController();
  readonly #background: Promise<void>[] = [];
  #resolveEnded: (exitCode: number) => void = () => undefined;
  #stopping: Promise<void> | null = null;
  #exitCode: number = EXIT_CODE.ok;
  /** PostgreSQL has let it in, so what it refuses later may only have been rotated. */
  #hasWorked = false;

  /** @param reload reads the settings anew: credentials and certificates may change while the process runs */
  constructor(settings: Settings, build: ProductBuild, reload: () => LoadedSettings) {
    this.#settings = settings;
    this.#topics = this.#createTopics();
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    const logEvents = new LogEvents();
    const logger = createProcessLog(settings.logging, logEvents);
    this.#logger = logger;
    const certificates = new ClientCertificates(logger);
    this.#current = followSettings(settings, { load: reload, logger, clock: systemClock, certificates });
    const outages = watchOutages(logger, this.#closing.signal, () => this.#management.client.onAway());
    const database = () => this.#current().database;
    const databaseCheck = new ConnectionCheck(database, () => this.#management.databaseConnectionFailed());
    const clients = shareByClients(
      () => this.#current().kafka,
      logger,
      (error) => this.#fail(error),
    );
    const kafkaCheck = createKafkaCheck(() => createKafkaClient(clients, NO_RETRIES));
    this.#registry = createRegistry(settings, {
      ...{ current: this.#current, clock: systemClock, outages: outages.registry.of('writers') },
      topics: () => this.#topics.all,
      onOutcome: (outcome) => this.#management.schemaAnswered(outcome),
    });
    this.#management = createManagement({
      settings,
      current: this.#current,
      clientCertificates: () => certificates.expiries,
      ...{ build, logger, logEvents, topics: this.#topics },
      report: () => this.#pipeline.report(),
      pool: () => this.#pool.figures(),
      schemas: () => this.#registry?.size ?? null,
      letters: () => this.#letters.report,
      checkDatabase: watchedCheck(
        (signal) => databaseCheck.check(signal),
        outages.database.of('health check'),
        describeDatabaseError,
      ),
      checkKafka: watchedCheck(kafkaCheck.check, clients.heard(outages.kafka.of('health check')), failureText),
    });
    const [topics, { signal }] = [this.#topics, this.#ending];
    this.#locks = new TableLocks({ settings, topics, current: database, logger, signal });
    this.#pool = this.#createPool(outages.database.of('writers'));
    this.#letters = new KeptLetters(this.#pool, settings, { clock: systemClock, logger, topics: () => topics.all });
    const [kafka, logs] = [createKafkaClient(clients), openReaderBeside(clients)];
    this.#closedLast = [databaseCheck, kafkaCheck, logs, ...(this.#registry ? [this.#registry] : [])];
    this.#deadLetterTopic = new KafkaDeadLetterTopic(settings.deadLetters, kafka, systemClock);
    this.#readers = new FieldReaders((topic) => formatsOf(settings, topic), this.#registry);
    this.#tables = this.#createTables();
    this.#sink = this.#createSink();
    this.#retention = new WaitingRetention({ logs, sink: this.#sink, clock: systemClock });
    this.#source = this.#createSource(kafka, clients.heard(outages.kafka.of('consumer')));
    this.#pipeline = this.#createPipeline();
  }

  /**
   * Logs the warnings about the settings and starts everything, waiting for PostgreSQL and Kafka as long as they are
   * away. Never rejects: a failure ends the application.
   */
  async start(warnings: readonly string[]): Promise<void> {
    const { kafka, database, consumer } = this.#settings;
    unpackAtMost(consumer.maxUnpackedBytes);
    try {
      const address = await this.#management.start().catch((error: unknown) => {
        throw error instanceof ListenError ? new FatalError('LISTEN_FAILED', error.message, { cause: error }) : error;
      });
      const topics = [...this.#topics.names, ...this.#topics.templates];
      this.#background.push(watchSettings(this.#current, systemClock, this.#ending.signal));
      for (const warning of warnings) {
        this.#logger.warn(warning);
      }
      this.#logger.info({ address, topics, groupId: kafka.groupId, schema: database.schema }, 'listening');
      await Promise.all([this.#prepareTables(), this.#registry?.check()]);
      if (this.#ending.signal.aborted) {
        return;
      }
      this.#hasWorked = true;
      this.#management.ready();
      const { signal } = this.#ending;
      this.#background.push(
        pollLogEnds(this.#source, this.#pipeline, systemClock, signal),
        this.#letters.watch(signal),
        this.#retention.watch(this.#pipeline, signal),
        sendCommitHints(this.#source, this.#pipeline, systemClock, signal),
        watchStoredPositions(this.#pipeline, this.#sink, {
          clock: systemClock,
          signal,
          onBehind: logsOf(this.#logger).onBehind,
        }),
        this.#warnOfLetterTopics(this.#topics.names),
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

  #warnOfLetterTopics(topics: readonly string[]): Promise<void> {
    return warnOfMissingTopics(this.#settings, topics, this.#deadLetterTopic, this.#logger);
  }

  #createTopics(): ReadTopics {
    return new ReadTopics(this.#settings, {
      onUsed: (topics) => void this.#warnOfLetterTopics(topics),
      onListed: () => waitForConflicts(this.#topics, this.#tables, this.#pipeline),
    });
  }

  #createPool(outages: OutageWatch): DatabasePool {
    return new DatabasePool(this.#settings.database, () => this.#management.databaseConnectionFailed(), {
      times: this.#management.connections,
      outages,
      sessionName: sessionName(this.#settings.kafka.groupId),
      current: () => this.#current().database,
      refusalPausesMs: () => (this.#hasWorked ? ROTATION_PAUSES_MS : REFUSAL_PAUSES_MS),
      warn: (warning) => this.#logger.warn(warning),
      onSlow: () => void this.#locks.search(),
    });
  }

  #createTables(): MappedTables {
    const reports = { unmapped: new UnmappedLog(this.#logger), onContended: logsOf(this.#logger).onContended };
    return new MappedTables(this.#settings, reports, this.#readers, this.#topics);
  }

  #createSink(): PostgresSink {
    return new PostgresSink(
      this.#pool,
      this.#settings,
      this.#deadLetterTopic,
      {
        onEnded: (session) =>
          this.#logger.warn(
            session,
            'ended the session of a frozen writer of this group: it held an offset of a partition',
          ),
        onShared: logsOf(this.#logger).onShared,
      },
      { topics: this.#topics, userTables: this.#tables, decoderOf: recordDecoders(this.#readers) },
    );
  }

  #createSource(kafka: Kafka, outages: OutageWatch): KafkaSource {
    return createKafkaSource(this.#settings.kafka, kafka, {
      topics: this.#topics,
      admin: new KafkaAdmin(kafka),
      clock: systemClock,
      logger: this.#logger,
      memory: processMemory,
      watcher: this.#management.client,
      outages,
      storedPositions: (topics) => this.#sink.positions(topics),
      ...{ store: this.#sink, startFrom: this.#settings.consumer.startFrom },
      place: () => this.#sink.place(),
    });
  }

  #createPipeline(): Pipeline {
    const log = streamLog(this.#logger, (error) => this.#locks.hasLogged(error));
    const { onWaits, onGoesOn } = logsOf(this.#logger);
    return new Pipeline(pipelineOptions(this.#settings, this.#topics), {
      source: this.#source,
      sink: this.#management.measured(this.#sink),
      ...(this.#registry && { prepare: schemasFirst(this.#registry, this.#settings) }),
      listener: notifyAll([this.#management.listener, log]),
      clock: systemClock,
      memory: processMemory,
      onFatal: (error) => this.#fail(error),
      ...{ mayWait: (topic: string) => this.#topics.isTemplated(topic), onWaits, onGoesOn },
      retention: this.#retention,
    });
  }

  async #shutDown(reason: string): Promise<void> {
    await shutDown(
      {
        management: this.#management,
        logger: this.#logger,
        pipeline: this.#pipeline,
        source: this.#source,
        closedLast: [this.#pool, this.#deadLetterTopic, ...this.#closedLast],
        ending: this.#ending,
        closing: this.#closing,
        background: this.#background,
      },
      { reason, timeoutMs: milliseconds(this.#settings.shutdown.timeout), exitCode: () => this.#exitCode },
    );
    this.#resolveEnded(this.#exitCode);
  }

  #fail(error: unknown): void {
    const fatal = FatalError.from(error);
    this.#exitCode = OF_CONFIGURATION.has(fatal.code) ? EXIT_CODE.configuration : EXIT_CODE.failed;
    this.#logger.fatal({ code: fatal.code, help: helpOf(fatal.code) }, fatal.message);
    void this.stop('a fatal error');
  }

  #prepareTables(): Promise<void> {
    const prepare = async () => {
      const versions = await this.#sink.migrate();
      await this.#pool.withClient((client) => this.#tables.read(client));
      return { versions, unknown: await this.#sink.unknownVersions() };
    };
    return prepareTables(prepare, this.#settings.database.schema, this.#logger, this.#ending.signal);
  }
}
