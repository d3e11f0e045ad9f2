import { isUtf8 } from 'node:buffer';
import type { Problem } from '../../../../settings/schema/problem.ts';
import { shownText } from '../../../../settings/schema/shown-value.ts';
import type { RecordHeader, StreamRecord } from '../../../records/record.ts';
import { NO_TIMESTAMP } from '../../../records/record-batch.ts';
import { DocumentFields } from '../../../tables/json/document-fields.ts';
import { contentOf, isString, itemsOf, type JsonSlice, membersOf, sentJson } from '../../../tables/json/json-slice.ts';

/** Records of a file, by topic and partition. */
interface SampleLine {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly StreamRecord[];
}

const SAMPLE_MEMBERS = ['topic', 'partition', 'offset', 'timestamp', 'key', 'value', 'headers'] as const;

const ALLOWED =
  'an object with value, and where they matter topic, partition, offset, timestamp, key and headers; a text is the bytes in UTF-8, {"base64": …} any bytes, all else is JSON';

/** What a line may lack. */
interface Defaults {
  /** `null`: a line names its topic. */
  readonly topic: string | null;
  /** All that may be named. */
  readonly topics: readonly string[];
}

/** What is wrong with a line. */
class LineError extends Error {
  readonly allowed: string;
  readonly given: string | undefined;

  constructor(message: string, allowed = ALLOWED, given?: string) {
    super(message);
    this.allowed = allowed;
    this.given = given;
  }
}

/** Bytes of a key, a value or a header; what is neither text nor base64 is JSON, as it is written. */
function memberBytes(value: JsonSlice | undefined): Buffer | null {
  if (value === undefined || value.kind === 'null') {
    return null;
  }
  if (isString(value)) {
    return Buffer.from(contentOf(value), 'utf8');
  }
  const members = value.kind === 'object' ? membersOf(value) : null;
  const base64 = members?.size === 1 ? members.get('base64') : undefined;
  return base64 !== undefined && isString(base64)
    ? Buffer.from(contentOf(base64), 'base64')
    : Buffer.from(sentJson(value), 'utf8');
}

/** A whole number, written as such or as a text. */
function numberOf(value: JsonSlice | undefined, name: string): bigint | undefined {
  if (value === undefined) {
    return undefined;
  }
  const text = isString(value) ? contentOf(value) : sentJson(value);
  if (!/^-?\d{1,19}$/.test(text)) {
    throw new LineError(`has no whole number as its ${name}`);
  }
  return BigInt(text);
}

/** As `dead_letters` has them: a list of objects of key and value. */
function headersOf(value: JsonSlice | undefined): readonly RecordHeader[] {
  if (value === undefined || value.kind === 'null') {
    return [];
  }
  const items = value.kind === 'list' ? itemsOf(value) : [];
  if (value.kind !== 'list' || items.some(({ kind }) => kind !== 'object')) {
    throw new LineError('has headers that are no list of {"key": …, "value": …}');
  }
  return items.map((item) => {
    const members = membersOf(item);
    return { key: memberBytes(members.get('key')) ?? '', value: memberBytes(members.get('value')) };
  });
}

function topicOf(value: JsonSlice | undefined, { topic, topics }: Defaults): string {
  const given = value !== undefined && isString(value) ? contentOf(value) : topic;
  const allowed = `one of ${topics.join(', ')}`;
  if (given === null) {
    throw new LineError('names no topic, and the settings have several', allowed);
  }
  if (!topics.includes(given)) {
    throw new LineError('names a topic that is not read', allowed, shownText(given, topics));
  }
  return given;
}

const WHOLE_LINE = new DocumentFields([[]]);

/** A record of a line. @throws LineError when it is none */
function recordOfLine(line: Buffer, defaults: Defaults) {
  const document = isUtf8(line) && WHOLE_LINE.read(line, 0, line.length) === null ? WHOLE_LINE.of(0) : undefined;
  if (document?.kind !== 'object') {
    throw new LineError('is no JSON object');
  }
  const members = membersOf(document);
  const unknown = [...members.keys()].find((name) => !SAMPLE_MEMBERS.some((known) => known === name));
  if (unknown !== undefined) {
    throw new LineError('has a member that a record does not have', ALLOWED, shownText(unknown, SAMPLE_MEMBERS));
  }
  if (!members.has('value')) {
    throw new LineError('has no value; that of a tombstone is null');
  }
  return {
    topic: topicOf(members.get('topic'), defaults),
    partition: Number(numberOf(members.get('partition'), 'partition') ?? 0n),
    offset: numberOf(members.get('offset'), 'offset'),
    timestamp: numberOf(members.get('timestamp'), 'timestamp') ?? NO_TIMESTAMP,
    key: memberBytes(members.get('key')),
    value: memberBytes(members.get('value')),
    headers: headersOf(members.get('headers')),
  };
}

/** The records of partitions, each with offsets that ascend. */
class SamplePartitions {
  readonly #partitions = new Map<string, { topic: string; partition: number; records: StreamRecord[] }>();

  add({ topic, partition, offset, ...record }: ReturnType<typeof recordOfLine>): void {
    const key = JSON.stringify([topic, partition]);
    const known = this.#partitions.get(key) ?? { topic, partition, records: [] };
    const last = known.records.at(-1)?.offset ?? -1n;
    if (offset !== undefined && offset <= last) {
      throw new LineError('has an offset that is not behind the one before', `an offset from ${last + 1n}, or none`);
    }
    known.records.push({ ...record, offset: offset ?? last + 1n });
    this.#partitions.set(key, known);
  }

  get all(): readonly SampleLine[] {
    return [...this.#partitions.values()];
  }
}

/**
 * Reads records of a file in JSON lines, in the place of Kafka.
 *
 * @returns the records, and a problem for each line that is none
 */
export function readSample(
  content: Buffer,
  topics: readonly string[],
): { readonly samples: readonly SampleLine[]; readonly problems: readonly Problem[] } {
  const defaults = { topic: topics.length === 1 ? (topics[0] ?? null) : null, topics };
  const partitions = new SamplePartitions();
  const problems: Problem[] = [];
  for (const [nth, line] of sampleLines(content).entries()) {
    if (line.toString('latin1').trim() === '') {
      continue;
    }
    try {
      partitions.add(recordOfLine(line, defaults));
    } catch (error) {
      if (!(error instanceof LineError)) {
        throw error;
      }
      const { message, allowed, given } = error;
      problems.push({ path: `line ${nth + 1} of --sample`, message, allowed, ...(given !== undefined && { given }) });
    }
  }
  return { samples: partitions.all, problems };
}

function sampleLines(content: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < content.length; ) {
    const newline = content.indexOf('\n', start);
    const end = newline < 0 ? content.length : newline;
    lines.push(content.subarray(start, end));
    start = end + 1;
  }
  return lines;
}
