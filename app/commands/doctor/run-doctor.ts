import { once } from 'node:events';
import { WriteStream } from 'node:tty';
import type { PoolClient } from 'pg';
import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { topicsOf } from '../../../settings/sections/tables.ts';
import { type Settings, settingsWarnings } from '../../../settings/settings.ts';
import { KafkaAdmin } from '../../kafka/kafka-admin.ts';
import { createKafkaClient, shareByClients } from '../../kafka/kafka-client.ts';
import { SILENT } from '../../kafka/last-records.ts';
import { DatabasePool } from '../../store/connection/database-pool.ts';
import { type OutputStreams, unlessInterrupted } from '../command/command.ts';
import { checkBrokers, type KafkaReach } from './check-brokers.ts';
import { checkHosts, type DatabaseFacts, databaseFinding, readFacts } from './check-database.ts';
import { checkClaim, checkGroup } from './check-group.ts';
import { checkPort, checkRegistry } from './check-servers.ts';
import { checkOtherGroups, checkOwnTables, checkUserTables } from './check-tables.ts';
import { describeTopics, type TopicReport, topicFindings } from './check-topics.ts';
import { doctorJson, doctorPage } from './doctor-page.ts';
import { exitCodeOf, type Finding, findingOf, inTime, ok, type Subject, skipped, warning, within } from './finding.ts';

/** The command `doctor`. */
export interface DoctorRequest {
  /** Whether each finding is a line of JSON. */
  readonly json: boolean;
  /** Whether what is only away counts as well. */
  readonly ignoresOutages: boolean;
}

const TOPICS: Subject = { area: 'Kafka', check: 'topics', name: '' };
const TABLES: Subject = { area: 'PostgreSQL', check: 'tables', name: '' };

/** A look of a command is over sooner than a write of the consumer. */
const STATEMENT_TIMEOUT = '5s';
/** A request that fails is tried once more. */
const RETRIES = 1;

/** What is found in Kafka, and what is compared with PostgreSQL later. */
interface KafkaResult {
  readonly reach: KafkaReach;
  readonly topics: TopicReport;
  readonly findings: readonly Finding[];
}

/** What is found in PostgreSQL. */
interface DatabaseResult {
  readonly findings: readonly Finding[];
  /** `null`: the database, or the consumer's tables in it, cannot be read. */
  readonly facts: DatabaseFacts | null;
  readonly areTablesReady: boolean;
}

/** One look at everything. */
class Examination {
  readonly #settings: Settings;
  readonly #kafka;
  readonly #admin: KafkaAdmin;
  readonly #pool: DatabasePool;

  constructor(settings: Settings) {
    this.#settings = settings;
    const shared = shareByClients(
      () => settings.kafka,
      SILENT,
      () => undefined,
    );
    this.#kafka = createKafkaClient(shared, RETRIES);
    this.#admin = new KafkaAdmin(this.#kafka);
    // The warnings of a login are those of the hosts.
    this.#pool = new DatabasePool(
      { ...settings.database, poolSize: 1, statementTimeout: STATEMENT_TIMEOUT },
      () => undefined,
    );
  }

  /** Everything at the same time, but for what compares Kafka with PostgreSQL. */
  async findings(): Promise<readonly Finding[]> {
    const settings = this.#settings;
    const [kafka, database, registry, port] = await Promise.all([
      this.#kafkaResult(),
      this.#databaseResult(),
      checkRegistry(settings),
      checkPort(settings),
    ]);
    return [
      ...settingsFindings(settings),
      ...kafka.reach.findings,
      ...this.#topicFindings(kafka, database),
      ...kafka.findings,
      ...(await this.#claimFindings(kafka, database)),
      ...database.findings,
      ...(await this.#otherGroups(kafka, database)),
      ...registry,
      port,
    ];
  }

  /** What still waits is cut off: nothing is asked any more. */
  async close(): Promise<void> {
    await within(Promise.all([this.#admin.disconnect(), this.#pool.close()]));
  }

  async #kafkaResult(): Promise<KafkaResult> {
    const { kafka } = this.#settings;
    const none: TopicReport = { described: null, missing: [] };
    const reach = await checkBrokers(kafka);
    if (reach.topics === null) {
      return {
        reach,
        topics: none,
        findings: [skipped({ ...TOPICS, check: 'group', name: kafka.groupId }, UNREACHED)],
      };
    }
    const subject: Subject = { area: 'Kafka', check: 'group', name: kafka.groupId };
    const [topics, group] = await Promise.all([
      within(describeTopics(this.#settings, this.#admin)).catch((error: unknown) => findingOf(TOPICS, error)),
      inTime(subject, () => checkGroup(this.#settings, this.#kafka)),
    ]);
    return topics !== undefined && 'described' in topics
      ? { reach, topics, findings: [group] }
      : { reach, topics: none, findings: [...(topics === undefined ? [] : [topics]), group] };
  }

  async #databaseResult(): Promise<DatabaseResult> {
    const { database } = this.#settings;
    const { findings: hosts, isReached } = await checkHosts(database);
    if (!isReached) {
      return {
        findings: [...hosts, skipped(TABLES, 'PostgreSQL lets the consumer in at no host')],
        ...WITHOUT_DATABASE,
      };
    }
    try {
      const { findings, ...rest } = await this.#pool.withClient((client) => this.#tables(client));
      return { findings: [...hosts, ...findings], ...rest };
    } catch (error) {
      return { findings: [...hosts, databaseFinding(TABLES, error, database)], ...WITHOUT_DATABASE };
    }
  }

  async #tables(client: PoolClient): Promise<DatabaseResult> {
    const settings = this.#settings;
    const { findings, areReady } = await checkOwnTables(client, settings);
    const users = await checkUserTables(client, settings);
    const facts = await readFacts(client, settings, { topics: topicsOf(settings), hasOffsets: areReady });
    return { findings: [...findings, ...users], facts, areTablesReady: areReady };
  }

  #topicFindings({ reach, topics }: KafkaResult, { facts }: DatabaseResult): readonly Finding[] {
    const settings = this.#settings;
    const { described } = topics;
    return described === null
      ? topicsOf(settings).map((name) => skipped({ area: 'Kafka', check: 'topic', name }, UNREACHED))
      : topicFindings({ settings, described, names: reach.topics ?? [], stored: facts?.stored ?? null });
  }

  async #claimFindings({ topics, findings }: KafkaResult, { facts }: DatabaseResult): Promise<readonly Finding[]> {
    const subject: Subject = { area: 'Kafka', check: 'place of group', name: this.#settings.kafka.groupId };
    const isJoinable = findings.every(({ status }) => status === 'ok');
    return facts === null || topics.described === null || !isJoinable
      ? [skipped(subject, 'it takes the group and PostgreSQL to know')]
      : [await inTime(subject, () => checkClaim(this.#settings, this.#admin, facts.place))];
  }

  async #otherGroups({ topics }: KafkaResult, database: DatabaseResult): Promise<readonly Finding[]> {
    const { facts, areTablesReady } = database;
    const { described } = topics;
    if (!areTablesReady || facts === null || described === null) {
      return [];
    }
    const fresh = topicsOf(this.#settings).filter((topic) => !facts.stored.has(topic));
    const ids = new Map(fresh.map((topic) => [topic, described.get(topic)?.id ?? '']));
    const subject: Subject = { ...TABLES, check: 'tables of other groups' };
    try {
      return await this.#pool.withClient((client) => checkOtherGroups(client, this.#settings, ids));
    } catch (error) {
      return [databaseFinding(subject, error, this.#settings.database)];
    }
  }
}

const UNREACHED = 'no broker lets the consumer in';
const WITHOUT_DATABASE = { facts: null, areTablesReady: false } as const;

function settingsFindings(settings: Settings): readonly Finding[] {
  const subject: Subject = { area: 'settings', check: 'settings', name: '' };
  const warnings = settingsWarnings(settings);
  return warnings.length === 0 ? [ok(subject, 'right')] : warnings.map((each) => warning(subject, each));
}

/**
 * Runs `doctor`: looks at all that the consumer needs, and prints what is found at once.
 *
 * @param signal ends it; its reason is the name of the operating system's signal
 * @returns the exit code: 0 when all is well; 78 when something is wrong; 1 when something is only away, unless that is
 * ignored; 128 plus the signal's number when it was ended by one. It rejects only for a mistake in the program.
 */
export async function runDoctor(
  settings: Settings,
  { json, ignoresOutages }: DoctorRequest,
  { out }: OutputStreams,
  signal: AbortSignal,
): Promise<number> {
  const examination = new Examination(settings);
  const interrupted = signal.aborted ? Promise.resolve() : once(signal, 'abort');
  const findings = await Promise.race([examination.findings(), interrupted.then(() => undefined)]);
  if (findings === undefined) {
    return unlessInterrupted(signal, EXIT_CODE.failed);
  }
  await examination.close();
  const isColoured = out instanceof WriteStream && out.hasColors();
  out.write(json ? doctorJson(findings) : doctorPage(findings, isColoured));
  return exitCodeOf(findings, ignoresOutages);
}
