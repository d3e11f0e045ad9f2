import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { ProducedRecord } from '../orders/sample-producer.ts';
import type { SampleHeader } from '../orders/sample-record.ts';
import { count, countFinding, type Finding } from './finding.ts';

const CHUNK_BYTES = 65_536;
/** NULL in COPY's text format. */
const NULL = '\\N';
/** Places that are shown of each problem. */
export const EXAMPLES = 5;
const SAME_PLACE = 't.topic = e.topic AND t.partition = e.partition AND t."offset" = e."offset"';
const PLACED = 'topic/partition/offset';
const PLACE = `e.topic || '/' || e.partition || '/' || e."offset"`;

/** Schema and group of a consumer's rows. */
type WrittenTables = Pick<Written, 'schema' | 'group'>;

/** Topic, group and schema of a consumer's rows. */
export interface Written {
  readonly schema: string;
  readonly topic: string;
  readonly group: string;
}

/**
 * Loads the records that were produced to a topic into a temporary table of the connection, to compare them there with
 * those of other topics.
 */
export async function loadExpected(
  client: pg.Client,
  topic: string,
  records: Iterable<ProducedRecord>,
  table: 'expected' | 'last_states' = 'expected',
): Promise<void> {
  await client.query(
    `CREATE TEMP TABLE IF NOT EXISTS ${table} (
       topic text, partition int, "offset" bigint, reason text, key bytea, headers jsonb, value bytea,
       PRIMARY KEY (topic, partition, "offset"))`,
  );
  await pipeline(Readable.from(copyText(topic, records)), client.query(copyFrom(`COPY ${table} FROM STDIN`)));
  await client.query(`ANALYZE ${table}`);
}

function* copyText(topic: string, records: Iterable<ProducedRecord>): Generator<string> {
  let chunk = '';
  for (const { partition, offset, reason, key, headers, value } of records) {
    chunk += [topic, partition, offset, reason ?? NULL, bytea(key), headerText(headers), bytea(value)].join('\t');
    chunk += '\n';
    if (chunk.length > CHUNK_BYTES) {
      yield chunk;
      chunk = '';
    }
  }
  yield chunk;
}

/** COPY takes a backslash for an escape: it is doubled. */
const bytea = (bytes: Buffer | null): string => (bytes === null ? NULL : `\\\\x${bytes.toString('hex')}`);

/** Headers as the consumer has to write them: text where they are UTF-8 without NUL, else base64. */
function headerText(headers: readonly SampleHeader[]): string {
  const entries = headers.map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? value : { base64: value.toString('base64') },
  }));
  return JSON.stringify(entries).replaceAll('\\', '\\\\');
}

/** How often something is wrong, and where. */
export interface Problem {
  readonly problem: string;
  readonly number: string;
  readonly examples: readonly string[];
}

interface Comparison {
  readonly check: string;
  /** SQL condition: the expected record belongs into this table. */
  readonly belongs: string;
  /** SQL join of the record's row. */
  readonly join: string;
  /** SQL expression: the problem of a record, or NULL. */
  readonly problem: string;
}

/**
 * Compares the table `expected` with the consumer's rows, in PostgreSQL itself: keys as text, values and headers as
 * jsonb, dead letters byte for byte and by their reason.
 */
export async function compareTables(client: pg.Client, written: WrittenTables): Promise<readonly Finding[]> {
  const records: Comparison = {
    check: 'records, each once, key, headers and value',
    belongs: 'e.reason IS NULL',
    join: `LEFT JOIN "${written.schema}".records t ON ${SAME_PLACE}`,
    problem: `CASE WHEN t."offset" IS NULL THEN 'missing in records'
                   WHEN t.key IS DISTINCT FROM convert_from(e.key, 'UTF8') THEN 'another key'
                   WHEN t.headers IS DISTINCT FROM e.headers THEN 'other headers'
                   WHEN t.value IS DISTINCT FROM convert_from(e.value, 'UTF8')::jsonb THEN 'another value' END`,
  };
  const deadLetters: Comparison = {
    check: 'dead letters, each with its reason',
    belongs: 'e.reason IS NOT NULL',
    join: `LEFT JOIN "${written.schema}".dead_letters t ON t.group_id = $1 AND ${SAME_PLACE}`,
    problem: `CASE WHEN t."offset" IS NULL THEN 'missing in dead_letters (expected as ' || e.reason || ')'
                   WHEN t.reason <> e.reason THEN e.reason || ' expected, but the reason is ' || t.reason
                   WHEN t.key IS DISTINCT FROM e.key OR t.value IS DISTINCT FROM e.value THEN 'other bytes' END`,
  };
  return [
    await compare(client, written, records),
    await compare(client, written, deadLetters),
    await findMisplaced(client, written),
  ];
}

async function compare(client: pg.Client, written: WrittenTables, comparison: Comparison): Promise<Finding> {
  const { check, belongs, join, problem } = comparison;
  // CASE keeps PostgreSQL from decoding the bytes of records that do not belong here.
  const found = await client.query<Problem>(
    `SELECT problem, count(*) AS number, (array_agg(place ORDER BY place))[1:${EXAMPLES}] AS examples
     FROM (SELECT ${PLACE} AS place, CASE WHEN ${belongs} THEN (${problem}) END AS problem
           FROM expected e ${join} WHERE $1::text IS NOT NULL) AS compared
     WHERE problem IS NOT NULL GROUP BY problem ORDER BY problem`,
    [written.group],
  );
  const total = await client.query<{ number: string }>(`SELECT count(*) AS number FROM expected e WHERE ${belongs}`);
  const wrong = found.rows.reduce((sum, { number }) => sum + BigInt(number), 0n);
  return finding(check, { expected: BigInt(total.rows[0]?.number ?? 0), wrong, problems: found.rows, place: PLACED });
}

/** Records in the one table that belong into the other one. */
async function findMisplaced(client: pg.Client, { schema, group }: WrittenTables): Promise<Finding> {
  const found = await client.query<Problem>(
    `SELECT problem, count(*) AS number, (array_agg(place ORDER BY place))[1:${EXAMPLES}] AS examples
     FROM (SELECT ${PLACE} AS place, 'poison in records' AS problem
           FROM expected e JOIN "${schema}".records t ON ${SAME_PLACE} WHERE e.reason IS NOT NULL
           UNION ALL
           SELECT ${PLACE}, 'good record in dead_letters'
           FROM expected e JOIN "${schema}".dead_letters t ON t.group_id = $1 AND ${SAME_PLACE}
           WHERE e.reason IS NULL) AS misplaced
     GROUP BY problem ORDER BY problem`,
    [group],
  );
  const number = found.rows.reduce((sum, row) => sum + BigInt(row.number), 0n);
  return countFinding(
    'records in the wrong table',
    0n,
    number,
    found.rows.map((problem) => describe(problem)),
  );
}

/**
 * What was compared: how many there have to be, how many are not as they have to be, and what the examples' places are.
 */
interface Comparing {
  readonly expected: bigint;
  readonly wrong: bigint;
  readonly problems: readonly Problem[];
  readonly place: string;
}

/** A finding with its problems as details. */
export function finding(check: string, { expected, wrong, problems, place }: Comparing): Finding {
  return {
    check,
    expected: count(expected),
    found: count(expected - wrong),
    isWell: wrong === 0n,
    details: problems.map((problem) => describe(problem, place)),
  };
}

const describe = ({ problem, number, examples }: Problem, place = PLACED): string =>
  `${count(BigInt(number))} ${problem}; ${place} ${examples.join(', ')}${BigInt(number) > examples.length ? ', ...' : ''}`;

/** Rows at offsets that are not in the table `expected` of the connection: no record was produced there. */
export async function unexpectedRows(client: pg.Client, { schema, group }: WrittenTables): Promise<Finding> {
  const { rows } = await client.query<{ place: string }>(
    `SELECT t.topic || '/' || t.partition || '/' || t."offset" AS place
     FROM (SELECT topic, partition, "offset" FROM "${schema}".records
           UNION ALL SELECT topic, partition, "offset" FROM "${schema}".dead_letters WHERE group_id = $1) AS t
     LEFT JOIN expected e ON ${SAME_PLACE} WHERE e."offset" IS NULL ORDER BY place`,
    [group],
  );
  const places = rows.map(({ place }) => place);
  return countFinding('rows without a record', 0, places.length, places);
}
