import { once } from 'node:events';
import { WriteStream } from 'node:tty';
import type { Kafka } from 'kafkajs';
import type { PoolClient } from 'pg';
import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { describeProblem, type Problem } from '../../../settings/schema/problem.ts';
import type { NamedTopics } from '../../../settings/sections/tables/tables-of-topics.ts';
import { topicsOf } from '../../../settings/sections/tables.ts';
import { type Settings, settingsWarnings } from '../../../settings/settings.ts';
import { KafkaAdmin } from '../../kafka/kafka-admin.ts';
import { createKafkaClient, shareByClients } from '../../kafka/kafka-client.ts';
import { SILENT } from '../../kafka/topic-reader.ts';
import { DatabasePool } from '../../store/connection/database-pool.ts';
import { type OutputStreams, unlessInterrupted } from '../command/command.ts';
import { checkBrokers, type KafkaReach } from './check-brokers.ts';
import { checkHosts, type DatabaseFacts, databaseFinding, readFacts } from './check-database.ts';
import { checkClaim, checkGroup } from './check-group.ts';
import { checkPort, checkRegistry } from './check-servers.ts';
import { checkOtherGroups, checkOwnTables, checkUserTables } from './check-tables.ts';
import { ofWaiting, resolveTemplates } from './check-templates.ts';
import { type DescribedTopics, describeTopics, topicFindings } from './check-topics.ts';
import { doctorJson, doctorPage } from './doctor-page.ts';
import {
  away,
  exitCodeOf,
  type Finding,
  findingOf,
  inTime,
  LATE,
  ok,
  type Subject,
  skipped,
  warning,
  within,
} from './finding.ts';

/** The command `doctor`. */
export interface DoctorRequest {
  /** The only table that is looked at. Left out: all of them. */
  readonly table: string | undefined;
  /** Whether each finding is a line of JSON. */
  readonly json: boolean;
  /** Whether what is only away counts as well. */
  readonly ignoresOutages: boolean;
}

const TOPICS: Subject = { area: 'Kafka', check: 'topics', name: '' };
const ALL_TABLES: Subject = { area: 'PostgreSQL', check: 'tables', name: '' };

/** A look of a command is over sooner than a write of the consumer. */
const QUESTION_TIMEOUT = '5s';
/** A request that fails is tried once more. */
const ADMIN_RETRIES = 1;

/** What is found in Kafka, and what is compared with PostgreSQL later. */
interface KafkaResult {
  readonly reach: KafkaReach;
  /** By name; `null`: no broker said anything of them. */
  readonly described: DescribedTopics | null;
  readonly findings: readonly Finding[];
}

/** What is found in PostgreSQL. */
interface DatabaseResult {
  readonly findings: readonly Finding[];
  /** `null`: the database, or the consumer's tables in it, cannot be read. */
  readonly facts: DatabaseFacts | null;
  readonly areTablesReady: boolean;
}

function clientOf(kafka: Settings['kafka']): Kafka {
  const shared = shareByClients(
    () => kafka,
    SILENT,
    () => undefined,
  );
  return createKafkaClient(shared, ADMIN_RETRIES);
}

/** One look at everything. */
class Examination {
  /** With templates. */
  readonly #given: Settings;
  /** With a name for each topic that templates take. */
  #named: Pick<NamedTopics<Settings>, 'settings' | 'isTemplated'>;
  readonly #table: string | undefined;
  readonly #pool: DatabasePool;
  /** Of the addresses that let the consumer in. */
  #admin: KafkaAdmin | null = null;

  /** @param table the only one that is looked at */
  constructor(settings: Settings, table: string | undefined) {
    this.#given = settings;
    this.#named = { settings };
    this.#table = table;
    // The warnings of a login are those of the hosts.
    this.#pool = new DatabasePool(
      { ...settings.database, poolSize: 1, statementTimeout: QUESTION_TIMEOUT },
      () => undefined,
    );
  }

  get #settings(): Settings {
    return this.#named.settings;
  }

  /**
   * Everything at the same time, but for what compares Kafka with PostgreSQL.
   *
   * @returns the problem where the settings have no such table
   */
  async findings(): Promise<readonly Finding[] | Problem> {
    const { findings: templates, problem, ...named } = await resolveTemplates(this.#given, this.#table);
    if (problem !== undefined) {
      return problem;
    }
    this.#named = named;
    const { settings } = named;
    const [kafka, database, registry, port] = await Promise.all([
      this.#kafkaResult(),
      this.#databaseResult(),
      checkRegistry(settings),
      checkPort(settings),
    ]);
    const all = [
      ...settingsFindings(settings),
      ...kafka.reach.findings,
      ...templates,
      ...this.#topicFindings(kafka, database),
      ...kafka.findings,
      ...(await this.#claimFindings(kafka, database)),
      ...database.findings,
      ...(await this.#otherGroups(kafka, database)),
      ...registry,
      port,
    ];
    return all.map((finding) => ofWaiting(finding, named));
  }

  /** What still waits is cut off: nothing is asked any more. */
  async close(): Promise<void> {
    await within(Promise.all([this.#admin?.disconnect(), this.#pool.close()]));
  }

  async #kafkaResult(): Promise<KafkaResult> {
    const { kafka } = this.#settings;
    const subject: Subject = { area: 'Kafka', check: 'group', name: kafka.groupId };
    const reach = await checkBrokers(kafka);
    if (reach.accepting.length === 0) {
      return { reach, described: null, findings: [skipped(subject, UNREACHED)] };
    }
    const client = clientOf({ ...kafka, brokers: [...reach.accepting] });
    const admin = new KafkaAdmin(client);
    this.#admin = admin;
    const [described, group] = await Promise.all([
      orFinding(TOPICS, describeTopics(this.#settings, admin), findingOf),
      inTime(subject, () => checkGroup(this.#settings, client)),
    ]);
    return 'status' in described
      ? { reach, described: null, findings: [described, group] }
      : { reach, described, findings: [group] };
  }

  async #databaseResult(): Promise<DatabaseResult> {
    const { database } = this.#settings;
    const { findings: hosts, isUsable } = await checkHosts(database);
    const found = isUsable
      ? await orFinding(
          ALL_TABLES,
          this.#pool.withClient((client) => this.#tables(client)),
          (subject, error) => databaseFinding(subject, error, database),
        )
      : skipped(ALL_TABLES, 'no host of PostgreSQL lets the consumer in and can have its tables');
    return 'status' in found
      ? { findings: [...hosts, found], facts: null, areTablesReady: false }
      : { ...found, findings: [...hosts, ...found.findings] };
  }

  async #tables(client: PoolClient): Promise<DatabaseResult> {
    const settings = this.#settings;
    const { findings, areReady } = await checkOwnTables(client, this.#given);
    const users = await checkUserTables(client, this.#named);
    const facts = await readFacts(client, settings, { topics: topicsOf(settings), hasOffsets: areReady });
    return { findings: [...findings, ...users], facts, areTablesReady: areReady };
  }

  #topicFindings({ reach, described }: KafkaResult, { facts }: DatabaseResult): readonly Finding[] {
    const settings = this.#settings;
    return described === null
      ? topicsOf(settings).map((name) => skipped({ area: 'Kafka', check: 'topic', name }, UNREACHED))
      : topicFindings({ settings, described, names: reach.topics, stored: facts?.stored ?? null });
  }

  async #claimFindings({ described, findings }: KafkaResult, { facts }: DatabaseResult): Promise<readonly Finding[]> {
    const subject: Subject = { area: 'Kafka', check: 'place of group', name: this.#settings.kafka.groupId };
    const isJoinable = findings.every(({ status }) => status === 'ok');
    const admin = this.#admin;
    return facts === null || described === null || admin === null || !isJoinable
      ? [skipped(subject, 'it takes the group and PostgreSQL to know')]
      : [await inTime(subject, () => checkClaim(this.#settings, admin, facts.place))];
  }

  async #otherGroups({ described }: KafkaResult, database: DatabaseResult): Promise<readonly Finding[]> {
    const { facts, areTablesReady } = database;
    if (!areTablesReady || facts === null || described === null) {
      return [];
    }
    const fresh = [...described.values()].filter(
      ({ topic, topicErrorCode }) => topicErrorCode === 0 && !facts.stored.has(topic),
    );
    const ids = new Map(fresh.map(({ topic, id }) => [topic, id]));
    const subject: Subject = { ...ALL_TABLES, check: 'tables of other groups' };
    const asked = this.#pool.withClient((client) => checkOtherGroups(client, this.#settings, ids));
    const found = await orFinding(subject, asked, (of, error) => databaseFinding(of, error, this.#settings.database));
    return 'status' in found ? [found] : found;
  }
}

const UNREACHED = 'no broker lets the consumer in, or none reports it';

/** What the work comes to; the finding where it takes too long, or for its error. */
async function orFinding<T>(
  subject: Subject,
  work: Promise<T>,
  forError: (subject: Subject, error: unknown) => Finding,
): Promise<T | Finding> {
  try {
    return (await within(work)) ?? away(subject, LATE);
  } catch (error) {
    return forError(subject, error);
  }
}

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
  { table, json, ignoresOutages }: DoctorRequest,
  { out, err }: OutputStreams,
  signal: AbortSignal,
): Promise<number> {
  const examination = new Examination(settings, table);
  const interrupted = signal.aborted ? Promise.resolve() : once(signal, 'abort');
  const findings = await Promise.race([examination.findings(), interrupted.then(() => undefined)]);
  if (findings === undefined) {
    return unlessInterrupted(signal, EXIT_CODE.failed);
  }
  await examination.close();
  if ('path' in findings) {
    err.write(`${PRODUCT_NAME} doctor: nothing was looked at.\n\n${describeProblem(findings)}\n`);
    return EXIT_CODE.configuration;
  }
  const isColoured = out instanceof WriteStream && out.hasColors();
  out.write(json ? doctorJson(findings) : doctorPage(findings, isColoured));
  return exitCodeOf(findings, ignoresOutages);
}
