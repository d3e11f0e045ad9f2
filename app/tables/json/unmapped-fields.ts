import type { Logger } from '../../logging/logger.ts';
import { printable } from '../../logging/printable-text.ts';
import { FatalError } from '../../stream/ports/stream-errors.ts';
import type { FieldPath, TableMapping } from '../mapping/table-mapping.ts';

/** The field of the whole value that a path begins with, or the whole value itself. */
const beginningOf = (path: FieldPath): FieldPath => path.slice(0, 1);

/** Fields of a record's value that a table takes, or looks at. */
function fieldsOf({ columns, key, when = [] }: TableMapping): readonly FieldPath[] {
  const paths = [...columns, ...when].flatMap(({ source }) =>
    source.kind === 'field' ? [beginningOf(source.path)] : [],
  );
  return key === null || typeof key.delete === 'string' ? paths : [...paths, beginningOf(key.delete)];
}

/** No field is unmapped beside it. */
const WHOLE_VALUE: FieldPath = [];

/**
 * The fields of a topic's records that do not count as unmapped for a table: a field that any table of the topic takes,
 * or everything. The first table that takes fields looks for all of them, so that a field counts once.
 */
export function mappedFields(
  own: TableMapping,
  mappings: readonly TableMapping[],
  topic: string,
): readonly FieldPath[] {
  const fillers = mappings.filter((each) => each.topics.includes(topic) && fieldsOf(each).length > 0);
  return fillers[0] === own ? fillers.flatMap(fieldsOf) : [WHOLE_VALUE];
}

/** What is called with fields that are in no column. */
export interface UnmappedFields {
  /** Fields of a topic's values that are not looked for: other tables take them. A path of no parts: all. */
  mapped(topic: string): readonly FieldPath[];
  /** Called with each of the others once, as far as {@link JsonScanner} keeps them. */
  report(topic: string, name: string | null): void;
}

export const ALL_MAPPED: UnmappedFields = { mapped: () => [[]], report: () => undefined };

/** Names that are logged of a topic, at most, and the characters of one. */
const MOST_NAMES = 100;
const MOST_CHARACTERS = 100;

function shortName(name: string): string {
  const characters = [...name];
  return characters.length > MOST_CHARACTERS ? `${characters.slice(0, MOST_CHARACTERS).join('')}…` : name;
}

/** Fields that no table of a topic takes, with those that were seen. */
export interface NamedFields extends UnmappedFields {
  namesOf(topic: string): readonly string[];
}

/** More names are not in the message. */
const MOST_SHOWN = 10;

export function unmappedField(topic: string, table: string, names: readonly string[]): FatalError {
  const fields = names
    .slice(0, MOST_SHOWN)
    .map((name) => printable(shortName(name)))
    .join(', ');
  return new FatalError(
    'FIELD_UNMAPPED',
    `the records of ${topic} have fields that no column takes: ${fields}. Nothing was written of the records in hand, and ` +
      `they stay ahead of the stored offset. Add a column to ${table}, or leave out unmapped: wait`,
    { topic },
  );
}

/** Logs each unmapped field of a topic once, however often the tables are mapped anew. */
export class UnmappedLog {
  readonly #logger: Logger;
  /** By topic; `null` is the line about the names that are not logged. */
  readonly #logged = new Map<string, Set<string | null>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * @param tables of the topic, for the line
   * @param name `null`: there are fields whose names are not kept
   */
  log(topic: string, tables: readonly string[], name: string | null): void {
    const logged = this.#logged.get(topic) ?? new Set();
    this.#logged.set(topic, logged);
    const names = logged.size - Number(logged.has(null));
    const key = name !== null && (logged.has(name) || names < MOST_NAMES) ? name : null;
    if (logged.has(key)) {
      return;
    }
    logged.add(key);
    if (key === null) {
      const limits = `${MOST_NAMES} names are logged at most, and none of more than 128 bytes`;
      this.#logger.info(
        { topic, tables },
        `the records have more fields that no table of their topic takes: ${limits}`,
      );
    } else {
      const field = printable(shortName(key));
      this.#logger.info(
        { topic, tables, field },
        'no table of the topic takes this field of its records: it is ignored',
      );
    }
  }
}
