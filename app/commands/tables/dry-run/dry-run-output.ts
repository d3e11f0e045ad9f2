import { printable } from '../../../logging/printable-text.ts';
import { WINDOW_RECORDS } from '../../../stream/ports/dead-letter.ts';
import type { UnreadableBatch } from '../../../stream/ports/record-source.ts';
import { contentLines, counted, grouped, jsonBytes } from '../../command/output.ts';
import type { ColumnFindings } from './seen-columns.ts';
import type { TriedFindings, TriedRecord, TriedRow } from './tried-records.ts';

const OPERATIONS = {
  append: 'append to',
  upsert: 'upsert in',
  delete: 'delete in',
  skip: 'nothing in',
} as const satisfies Readonly<Record<TriedRow['operation'], string>>;

const UNMATCHED_TEXT = 'no table takes it';

const placeText = ({ topic, partition, record }: TriedRecord): string =>
  `${topic}/${partition} offset ${record.offset}`;

/** The lines about a record. @param values whether its key and value are shown */
export function recordLines(tried: TriedRecord, values: boolean): readonly string[] {
  const { outcome } = tried;
  const what =
    'letter' in outcome
      ? `dead letter ${outcome.letter.reason}: ${outcome.letter.error}`
      : outcome.rows.map(({ table, operation }) => `${OPERATIONS[operation]} ${table}`).join(', ') || UNMATCHED_TEXT;
  return [printable(`${placeText(tried)}: ${what}`), ...(values ? contentLines(tried.record) : [])];
}

/** The same as one line of JSON. */
export function recordJson({ topic, partition, record, outcome }: TriedRecord, values: boolean): string {
  const content = values ? { key: jsonBytes(record.key), value: jsonBytes(record.value) } : {};
  const what =
    'rows' in outcome
      ? { outcome: outcome.rows.length === 0 ? 'unmatched' : 'stored', tables: outcome.rows }
      : {
          outcome: 'dead letter',
          reason: outcome.letter.reason,
          error: outcome.letter.error,
          target: outcome.letter.target ?? null,
          targetColumn: outcome.letter.targetColumn ?? null,
        };
  return JSON.stringify({ topic, partition, offset: Number(record.offset), ...what, ...content });
}

/** Records with the same fate. */
interface Tallied {
  readonly words: readonly string[];
  records: number;
}

/** Counts by the words about them. */
class Tally {
  readonly #counts = new Map<string, Tallied>();

  add(...words: readonly string[]): void {
    const key = JSON.stringify(words);
    const known = this.#counts.get(key) ?? { words, records: 0 };
    known.records += 1;
    this.#counts.set(key, known);
  }

  /** The most frequent first. */
  get all(): readonly Tallied[] {
    return [...this.#counts.values()].sort((one, other) => other.records - one.records);
  }
}

/** What a dry run comes to. */
export class DryRunSummary {
  readonly #rows = new Tally();
  readonly #letters = new Tally();
  readonly #topics = new Map<string, { records: number; dead: number }>();
  #records = 0;
  #dead = 0;
  #unmatched = 0;
  unreadable: readonly UnreadableBatch[] = [];
  readonly #isTemplated: (topic: string) => boolean;

  /** @param isTemplated whether a template alone takes a topic: it waits where another one stops the consumer */
  constructor(isTemplated: (topic: string) => boolean) {
    this.#isTemplated = isTemplated;
  }

  add({ topic, outcome }: TriedRecord): void {
    const ofTopic = this.#topics.get(topic) ?? { records: 0, dead: 0 };
    this.#topics.set(topic, ofTopic);
    this.#records += 1;
    ofTopic.records += 1;
    if ('letter' in outcome) {
      this.#dead += 1;
      ofTopic.dead += 1;
      const { reason, target = '', targetColumn = '' } = outcome.letter;
      this.#letters.add(reason, target, targetColumn);
      return;
    }
    this.#unmatched += outcome.rows.length === 0 ? 1 : 0;
    for (const { operation, table } of outcome.rows) {
      this.#rows.add(operation, table);
    }
  }

  get records(): number {
    return this.#records;
  }

  get #stored(): number {
    return this.#records - this.#dead - this.#unmatched;
  }

  /** Whether no record would be a dead letter. */
  get isClean(): boolean {
    return this.#dead === 0 && this.unreadable.length === 0;
  }

  /** @param maxRatio `deadLetters.maxRatio` */
  lines({ unmapped, columns }: TriedFindings, maxRatio: number): readonly string[] {
    const rows = this.#rows.all.map(
      ({ words: [operation = '', table = ''], records }) => `${grouped(records)} ${operation} in ${table}`,
    );
    const [total = '', ...others] = this.totalLines(maxRatio);
    return [
      total,
      ...rows.map((line) => `  ${line}`),
      ...others,
      ...[...unmapped].map(([topic, names]) => printable(`fields of ${topic} without a column: ${names.join(', ')}`)),
      ...columns.flatMap(columnLines),
    ];
  }

  /** Topics with more dead letters than are allowed. */
  #refusedLines(maxRatio: number): readonly string[] {
    const refused = [...this.#topics].flatMap(([topic, { records, dead }]) =>
      dead > records * maxRatio ? [topic] : [],
    );
    const templated = refused.filter(this.#isTemplated);
    const ends = [
      [refused.filter((topic) => !templated.includes(topic)), 'the consumer stops'],
      [templated, 'the topic waits'],
    ] as const;
    return ends.flatMap(([topics, what]) => {
      const where = `${what} where they are more of ${grouped(WINDOW_RECORDS)} records in a row`;
      return topics.length === 0
        ? []
        : [printable(`  more than deadLetters.maxRatio (${maxRatio}) of ${topics.join(', ')}: ${where}`)];
    });
  }

  /** The counts of all records together, and of each reason of a dead letter. */
  totalLines(maxRatio: number): readonly string[] {
    const unmatched = this.#unmatched === 0 ? '' : `, ${grouped(this.#unmatched)} would be in no table`;
    return [
      `${counted(this.#records, 'record')}: ${grouped(this.#stored)} would be stored, ${grouped(this.#dead)} would be dead letters${unmatched}`,
      ...this.#letters.all.map(({ words: [reason = '', target = '', column = ''], records }) => {
        const place = target === '' ? '' : `, ${target}${column === '' ? '' : `, column "${column}"`}`;
        return printable(`  ${grouped(records)} ${reason}${place}`);
      }),
      ...this.#refusedLines(maxRatio),
      ...this.unreadable.map(({ topic, partition, offset, reason }) =>
        printable(`${topic}/${partition} offset ${offset}: cannot be read: ${reason}`),
      ),
    ];
  }

  /** The same as one line of JSON. */
  json({ waiting, unmapped, columns }: TriedFindings): string {
    return JSON.stringify({
      records: this.#records,
      stored: this.#stored,
      deadLetters: this.#dead,
      unmatched: this.#unmatched,
      rows: this.#rows.all.map(({ words: [operation, table], records }) => ({ table, operation, records })),
      reasons: this.#letters.all.map(({ words: [reason, target = '', column = ''], records }) => ({
        ...{ reason, records },
        target: target === '' ? null : target,
        targetColumn: column === '' ? null : column,
      })),
      unreadable: this.unreadable.map(({ topic, partition, offset, code }) => ({
        ...{ topic, partition, code },
        offset: Number(offset),
      })),
      waiting: [...waiting].map(([topic, { code, message }]) => ({ topic, code, message })),
      unmapped: Object.fromEntries(unmapped),
      columns,
      rolledBack: true,
    });
  }
}

function columnLines({ table, rows, withoutValue, neverNull, kept }: ColumnFindings): readonly string[] {
  const about = `${counted(rows, 'row')} for ${table}`;
  const line = (words: string, names: readonly string[]): readonly string[] =>
    names.length === 0 || rows === 0 ? [] : [printable(`${words} in ${about}: ${names.join(', ')}`)];
  return [
    ...line('columns without a value', withoutValue),
    ...line('NULL never seen, and the default may be in its place,', neverNull),
    ...line('placeholders for columns that keep what they have', kept),
  ];
}
