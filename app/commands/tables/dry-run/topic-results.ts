import { tablesOf, topicsOf } from '../../../../settings/sections/tables.ts';
import type { Settings } from '../../../../settings/settings.ts';
import { printable } from '../../../logging/printable-text.ts';
import { RECORDS } from '../../../store/tables/record-rows.ts';
import { counted, grouped } from '../../command/output.ts';
import { recordLines } from './dry-run-output.ts';
import type { TriedFindings, TriedRecord, TriedWait } from './tried-records.ts';

/** Dead letters of a topic that are shown one by one. */
const MOST_LETTERS = 3;

/** What the records of one topic would become. */
class TopicResult {
  #stored = 0;
  #unmatched = 0;
  #dead = 0;
  readonly #letters: string[] = [];

  add(tried: TriedRecord): void {
    if ('rows' in tried.outcome) {
      const isStored = tried.outcome.rows.length > 0;
      this.#stored += isStored ? 1 : 0;
      this.#unmatched += isStored ? 0 : 1;
      return;
    }
    this.#dead += 1;
    if (this.#letters.length < MOST_LETTERS) {
      this.#letters.push(...recordLines(tried, false));
    }
  }

  get verdict(): string {
    const all = this.#stored + this.#unmatched + this.#dead;
    const parts = [
      [this.#dead, 'would be dead letters'],
      [this.#unmatched, 'would be in no table'],
    ] as const;
    const others = parts.flatMap(([count, words]) => (count === 0 ? [] : [`, ${grouped(count)} ${words}`]));
    return all === 0
      ? 'no records'
      : `${counted(all, 'record')}, ${grouped(this.#stored)} would be stored${others.join('')}`;
  }

  get letters(): readonly string[] {
    const more = this.#dead - this.#letters.length;
    return more === 0 ? this.#letters : [...this.#letters, `and ${counted(more, 'more dead letter')}`];
  }
}

/** Of tables that do not fit the problems alone: the sentence before them is the same for each topic. */
const reasonLines = ({ code, message }: TriedWait): readonly string[] => {
  const lines = message.split('\n').map(printable);
  return code === 'TABLES_DO_NOT_FIT' && lines.length > 1 ? lines.slice(1) : lines;
};

const waitVerdict = ({ code, isIgnored }: TriedWait): string =>
  `${code === 'TOPIC_FORBIDDEN' ? 'may not be read' : 'waits'} (${code})${isIgnored ? ', as missing: ignore asks for no table' : ''}`;

/** The lines below: of a topic that nobody wants there is nothing to mend. */
const waitReasons = (wait: TriedWait): readonly string[] =>
  wait.isIgnored ? [] : reasonLines(wait).map((line) => `  ${line}`);

/** The lines about topics that would wait, with what mends it. */
export const waitingLines = ({ waiting }: Pick<TriedFindings, 'waiting'>): readonly string[] =>
  [...waiting].flatMap(([topic, wait]) => [printable(`${topic} ${waitVerdict(wait)}`), ...waitReasons(wait)]);

/** Many topics for a person: a line for each, and below it what somebody should look at. */
export class TopicResults {
  readonly #titles: ReadonlyMap<string, string>;
  readonly #results = new Map<string, TopicResult>();

  constructor(settings: Settings) {
    const tables = tablesOf(settings);
    this.#titles = new Map(
      topicsOf(settings).map((topic) => {
        const names = tables
          .filter(({ topics }) => topics.includes(topic))
          .map((each) => `${each.schema}.${each.table}`);
        const records = settings.kafka.topics.includes(topic) ? [RECORDS.table] : [];
        return [topic, `${topic} -> ${[...names, ...records].join(', ')}`];
      }),
    );
  }

  add(tried: readonly TriedRecord[]): void {
    for (const each of tried) {
      const result = this.#results.get(each.topic) ?? new TopicResult();
      this.#results.set(each.topic, result);
      result.add(each);
    }
  }

  lines({ waiting, unmapped }: TriedFindings): readonly string[] {
    const untitled = [...waiting].filter(([topic]) => !this.#titles.has(topic));
    const lines = [...this.#titles].flatMap(([topic, title]) => {
      const wait = waiting.get(topic);
      if (wait !== undefined) {
        return [printable(`${title}: ${waitVerdict(wait)}`), ...waitReasons(wait)];
      }
      const result = this.#results.get(topic) ?? new TopicResult();
      const fields = unmapped.get(topic) ?? [];
      return [
        printable(`${title}: ${result.verdict}`),
        ...result.letters.map((line) => `  ${line}`),
        ...(fields.length === 0 ? [] : [printable(`  fields without a column: ${fields.join(', ')}`)]),
      ];
    });
    return [...lines, ...waitingLines({ waiting: new Map(untitled) })];
  }
}
