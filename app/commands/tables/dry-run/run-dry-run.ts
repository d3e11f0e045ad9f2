import { EXIT_CODE, EXIT_CODE_OF_DEAD_LETTERS } from '../../../../contract/exit-code.ts';
import { FATAL_CODES } from '../../../../contract/fatal-codes.ts';
import { PRODUCT_NAME } from '../../../../contract/identity.ts';
import { describeProblems, type Problem } from '../../../../settings/schema/problem.ts';
import { formatsOf } from '../../../../settings/sections/formats.ts';
import type { NamedTopics } from '../../../../settings/sections/tables/tables-of-topics.ts';
import { topicsOf } from '../../../../settings/sections/tables.ts';
import type { Settings } from '../../../../settings/settings.ts';
import { FieldReaders } from '../../../formats/field-readers.ts';
import { schemasFirst } from '../../../formats/prepare-schemas.ts';
import { createRegistry, type SchemaRegistry } from '../../../formats/registry/schema-registry.ts';
import type { Selection } from '../../../kafka/topic-reader.ts';
import { UNWATCHED } from '../../../logging/outage-log.ts';
import type { DatabasePool } from '../../../store/connection/database-pool.ts';
import { systemClock } from '../../../stream/ports/clock.ts';
import type { WriteRequest } from '../../../stream/ports/record-sink.ts';
import { limitedTo, MOST_IN_FULL } from '../../command/asked-table.ts';
import { type OutputStreams, unlessInterrupted } from '../../command/command.ts';
import { grouped, Output } from '../../command/output.ts';
import { unknownTopics } from '../../command/table-topics.ts';
import { withServers } from '../../command/with-database.ts';
import { DryRunSummary, recordJson, recordLines } from './dry-run-output.ts';
import { type ReadRequests, readSampleFile, readTopics } from './read-requests.ts';
import { TopicResults, waitingLines } from './topic-results.ts';
import { DryRun, type TriedFindings, type TriedRecord } from './tried-records.ts';

/** The command `tables dry-run`. */
export interface DryRunRequest {
  /** The only table, of which each record is printed. Left out: all tables. */
  readonly table: string | undefined;
  /** Topics whose records are tried; empty: all. */
  readonly topics: readonly string[];
  readonly selection: Selection;
  /** A file whose records are tried in the place of those of Kafka. */
  readonly sample: string | undefined;
  /** Whether keys and values are shown. */
  readonly values: boolean;
  /** Whether each record, and the summary, is a line of JSON. */
  readonly json: boolean;
}

const ROLLED_BACK =
  'nothing was written: the transaction was rolled back; sequences that columns take numbers from have advanced';

function refuseProblems(problems: readonly Problem[], { err }: OutputStreams): number {
  err.write(`${PRODUCT_NAME} tables dry-run: nothing was tried.\n\n${describeProblems(problems)}\n`);
  return EXIT_CODE.configuration;
}

/** Schemas are fetched before the transaction begins. */
async function fetchSchemas(
  registry: SchemaRegistry | undefined,
  settings: Settings,
  requests: readonly WriteRequest[],
  signal: AbortSignal,
): Promise<void> {
  const prepare = registry && schemasFirst(registry, settings);
  for (const request of requests) {
    try {
      await prepare?.(request, signal);
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      throw error;
    }
  }
}

/** One dry run, with its output. */
class DryRunCommand {
  readonly #named: NamedTopics<Settings>;
  readonly #settings: Settings;
  readonly #request: DryRunRequest;
  readonly #streams: OutputStreams;
  readonly #output: Output;
  readonly #signal: AbortSignal;

  constructor(named: NamedTopics<Settings>, request: DryRunRequest, streams: OutputStreams, signal: AbortSignal) {
    this.#named = named;
    this.#settings = named.settings;
    this.#request = request;
    this.#streams = streams;
    this.#output = new Output(streams, systemClock);
    this.#signal = signal;
  }

  async run(pool: DatabasePool): Promise<number> {
    const read = await this.#read();
    this.#output.clear();
    if (read.problems.length > 0) {
      return refuseProblems(read.problems, this.#streams);
    }
    const code = this.#signal.aborted ? EXIT_CODE.ok : await this.#try(pool, read);
    await (this.#signal.aborted && this.#output.lines(['interrupted'], 'err'));
    return unlessInterrupted(this.#signal, code);
  }

  #read(): Promise<ReadRequests> {
    const { selection, sample } = this.#request;
    const asked = topicsOf(this.#settings);
    if (sample !== undefined) {
      return readSampleFile(sample, asked);
    }
    return readTopics(this.#settings.kafka, {
      topics: asked,
      selection,
      signal: this.#signal,
      onRead: (records) => this.#output.progress(() => `${grouped(records)} records read`),
    });
  }

  async #try(pool: DatabasePool, { requests, unreadable, forbidden }: ReadRequests): Promise<number> {
    const settings = this.#settings;
    const summary = new DryRunSummary((topic) => this.#named.isTemplated?.(topic) === true);
    summary.unreadable = unreadable;
    const results = this.#isList ? new TopicResults(settings) : null;
    const all = requests.reduce((sum, { records }) => sum + records.length, 0);
    const registry = createRegistry(settings, { current: () => settings, clock: systemClock, outages: UNWATCHED });
    const dryRun = new DryRun(
      this.#named,
      new FieldReaders((topic) => formatsOf(settings, topic), registry),
      forbidden,
    );
    const onTried = async (tried: readonly TriedRecord[]): Promise<void> => {
      tried.forEach((each) => {
        summary.add(each);
      });
      await (results === null ? this.#output.lines(this.#linesOf(tried)) : results.add(tried));
      this.#output.progress(() => `${grouped(summary.records)} of ${grouped(all)} records tried`);
    };
    try {
      await fetchSchemas(registry, settings, requests, this.#signal);
      await pool.withClient((client) => dryRun.try(client, requests, onTried, this.#signal));
    } finally {
      this.#output.clear();
      await registry?.close();
    }
    await this.#output.lines(this.#summaryLines(summary, dryRun.findings, results));
    return exitCodeOf(dryRun.findings) ?? (summary.isClean ? EXIT_CODE.ok : EXIT_CODE_OF_DEAD_LETTERS);
  }

  /** Whether there are too many topics for a line for each record. */
  get #isList(): boolean {
    const { table, topics, values, json } = this.#request;
    const isLimited = table !== undefined || topics.length > 0;
    return !isLimited && !values && !json && topicsOf(this.#settings).length > MOST_IN_FULL;
  }

  #linesOf(tried: readonly TriedRecord[]): readonly string[] {
    const { json, values } = this.#request;
    return tried.flatMap((each) => (json ? [recordJson(each, values)] : recordLines(each, values)));
  }

  #summaryLines(summary: DryRunSummary, findings: TriedFindings, results: TopicResults | null): readonly string[] {
    const { maxRatio } = this.#settings.deadLetters;
    if (this.#request.json) {
      return [summary.json(findings)];
    }
    return results === null
      ? ['', ...summary.lines(findings, maxRatio), ...waitingLines(findings), ROLLED_BACK]
      : [...results.lines(findings), '', ...summary.totalLines(maxRatio), ONE_TABLE, ROLLED_BACK];
  }
}

/** By the topics that wait: a table that took no rows may take them later. `undefined`: none needs attention. */
function exitCodeOf({ waiting }: TriedFindings): number | undefined {
  const codes = [...waiting.values()].flatMap(({ code, isIgnored }) => (isIgnored ? [] : [code]));
  if (codes.length === 0) {
    return undefined;
  }
  return codes.some((code) => code in FATAL_CODES) ? EXIT_CODE.configuration : EXIT_CODE.failed;
}

const ONE_TABLE = `${PRODUCT_NAME} tables dry-run --table NAME prints all about one table`;

/**
 * Runs `tables dry-run`: reads records without a group, writes them as the consumer does in one transaction, and rolls
 * it back.
 *
 * @param signal ends it after the records in hand; its reason is the name of the operating system's signal
 * @returns the exit code. 0: all records would be stored; 65: some would be dead letters. 78: the request or a table
 * does not fit the settings; 1: PostgreSQL, Kafka or the registry was away or refused, or a table took no rows for
 * now. 128 plus the number of the signal that ended it. It rejects only for a mistake in the program.
 */
export function runDryRun(
  named: NamedTopics<Settings>,
  request: DryRunRequest,
  streams: OutputStreams,
  signal: AbortSignal,
): Promise<number> {
  const { topics } = request;
  const known = [...topicsOf(named.settings), ...named.waiting.keys()];
  const problems = unknownTopics(topics, known, 'topics of kafka.topics and tables');
  if (problems.length > 0) {
    return Promise.resolve(refuseProblems(problems, streams));
  }
  const command = new DryRunCommand(topics.length === 0 ? named : limitedTo(named, topics), request, streams, signal);
  return withServers('tables dry-run', named.settings.database, streams, (pool) => command.run(pool));
}
