import { type ColumnSource, type FieldPath, parseSource } from '../../../../settings/sections/column-source.ts';
import { type Format, formatsOf } from '../../../../settings/sections/formats.ts';
import type { ColumnSetting, TableSettings, Unit } from '../../../../settings/sections/tables.ts';
import type { Settings } from '../../../../settings/settings.ts';
import { typeOfUnit, widestType } from '../../../formats/schema-sql-type.ts';
import { printable } from '../../../logging/printable-text.ts';
import { camelCase } from '../../../tables/mapping/resolve-mapping.ts';
import type { CatalogTable } from '../../../tables/mapping/table-catalog.ts';
import { rowPath } from '../../../tables/rows/column-plan.ts';
import { conditionLines } from '../check/shown-mapping.ts';
import type { TopicShapes } from './read-shapes.ts';
import type { KnownValue } from './seen-values.ts';

/** A column that a table needs. */
export interface WantedColumn {
  readonly name: string;
  /** As SQL. */
  readonly type: string;
  readonly isNotNull: boolean;
  /** For a comment; those of guesses begin with REVIEW. */
  readonly remarks: readonly string[];
}

/** What a table needs. */
export interface WantedTable {
  readonly columns: readonly WantedColumn[];
  /** What the columns are based on, and fields that have none; for comments. */
  readonly remarks: readonly string[];
}

/** Characters of a name in bytes that PostgreSQL keeps: NAMEDATALEN less one. */
const MOST_NAME_BYTES = 63;

/** What one topic of one entry says of a column. */
interface ColumnFinding {
  readonly known: KnownValue | undefined;
  readonly topic: string;
}

/** The column that takes a field by its name; `null` where no name of a column does. */
function columnOfField(field: string, { fields }: TableSettings): string | null {
  const name =
    fields === 'same' ? field : field.replaceAll(/(?<=[\p{Ll}\p{N}])\p{Lu}/gu, (letter) => `_${letter}`).toLowerCase();
  const isTaken = fields === 'same' || camelCase(name) === field;
  return isTaken && name !== '' && Buffer.byteLength(name) <= MOST_NAME_BYTES ? name : null;
}

/** Debezium's flattening names what is not of the row so. */
const isOfFlattening = ({ envelope }: TableSettings, field: string): boolean =>
  envelope?.format === 'debezium-flat' && field.startsWith('__');

const firstOf = (path: FieldPath): string | number | undefined => path[0];

/** Fields that `columns` and `delete` take, by the first name of their paths. */
function fieldsTaken({ columns, key }: TableSettings): ReadonlySet<string | number | undefined> {
  const sources = Object.values(columns).flatMap((setting) => (setting === false ? [] : [parseSource(setting.from)]));
  const taken = sources.flatMap((source) => (source.kind === 'field' ? [firstOf(source.path)] : []));
  return new Set([...taken, ...(key !== null && typeof key.delete !== 'string' ? [firstOf(key.delete)] : [])]);
}

/** The column that takes a field of the record key: the one that `columns` gives it, else the one of its name. */
function columnOfKeyField(field: string, entry: TableSettings): string | null {
  const named = Object.entries(entry.columns).find(([, setting]) => {
    const source = setting !== false && parseSource(setting.from);
    return source && (source.kind === 'field' || source.kind === 'key') && source.path.at(-1) === field;
  });
  return named?.[0] ?? columnOfField(field, entry);
}

/** What a record key has the columns of, for `key: primary`. */
function keyOfRecords(entry: TableSettings, shapes: readonly TopicShapes[]) {
  const [shape] = shapes.filter(({ topic, key }) => entry.topics.includes(topic) && key.fields([]).length > 0);
  const columns = shape?.key.fields([]).map((field) => columnOfKeyField(field, entry)) ?? [];
  const named = columns.flatMap((name) => name ?? []);
  return shape === undefined || named.length < columns.length ? undefined : { shape, columns: named };
}

/**
 * Entries with the columns of `key: primary` for a table that is not there yet: those of the record keys. As a rule the
 * schema of these has the primary key of the source; where records show them alone they are a guess.
 *
 * @returns the entries, and what the columns come from, for comments. An entry stays as it is where the catalog has the
 * primary key, and where nothing shows its columns.
 */
export function withPrimaryKeys(
  entries: readonly TableSettings[],
  { relation }: CatalogTable,
  shapes: readonly TopicShapes[],
): { readonly entries: readonly TableSettings[]; readonly remarks: readonly string[] } {
  const isThere = relation?.uniqueIndexes.some(({ isPrimary }) => isPrimary) === true;
  const remarks = new Set<string>();
  const keyed = entries.map((entry): TableSettings => {
    const { key } = entry;
    if (key === null || key.columns !== null || isThere) {
      return entry;
    }
    const found = keyOfRecords(entry, shapes);
    if (found === undefined) {
      remarks.add('REVIEW: key: primary, and no record key has fields that would be the primary key: name its columns');
      return entry;
    }
    const { shape, columns } = found;
    const words = shape.key.isGuess ? 'REVIEW: a guess for the primary key' : 'the primary key';
    remarks.add(`${words}: ${shape.topic} is keyed by ${columns.join(', ')}: ${shape.key.basis}`);
    return relation === null ? { ...entry, key: { ...key, columns } } : entry;
  });
  return { entries: keyed, remarks: [...remarks] };
}

/** A change event is the row where no key says which row it is about. */
const isHistory = ({ envelope, key }: TableSettings): boolean => envelope?.format === 'debezium' && key === null;

const ALWAYS: Readonly<Partial<Record<ColumnSource['kind'], KnownValue>>> = {
  topic: { type: 'text', isNotNull: true },
  partition: { type: 'integer', isNotNull: true },
  offset: { type: 'bigint', isNotNull: true },
  timestamp: { type: 'timestamptz', isNotNull: false },
  header: { type: 'text', isNotNull: false },
};

/** Finds the columns that one topic of an entry has values for. */
class EntryColumns {
  readonly found = new Map<string, KnownValue | undefined>();
  /** Of fields without a column. */
  readonly remarks: string[] = [];
  takesKey = false;
  readonly #entry: TableSettings;
  readonly #shapes: TopicShapes;
  readonly #valueFormat: Format;
  readonly #row: FieldPath;

  constructor(entry: TableSettings, shapes: TopicShapes, settings: Settings) {
    this.#entry = entry;
    this.#shapes = shapes;
    this.#row = rowPath(entry.envelope);
    this.#valueFormat = formatsOf(settings, shapes.topic).value[0] ?? 'json';
    this.#addKey();
    this.#addFields();
    this.#addNamed();
  }

  /** Columns of the key come first; what the value lacks is taken from the record key. */
  #addKey(): void {
    const { key, columns } = this.#entry;
    const { value } = this.#shapes;
    for (const name of key?.columns ?? []) {
      const setting = Object.hasOwn(columns, name) ? columns[name] : undefined;
      if (setting) {
        this.found.set(name, this.#named(setting));
        continue;
      }
      const field = this.#entry.fields === 'camelCase' ? camelCase(name) : name;
      const ofValue = value.at([...this.#row, field], this.#row);
      const ofKey = ofValue === undefined ? this.#ofRecordKey(field) : undefined;
      this.takesKey ||= ofKey !== undefined;
      this.found.set(name, ofValue ?? ofKey);
    }
  }

  #ofRecordKey(field: string): KnownValue | undefined {
    const { key } = this.#shapes;
    const isWhole = this.#entry.key?.columns?.length === 1 && key.fields([]).length === 0;
    return key.at(isWhole ? [] : [field], []);
  }

  #addFields(): void {
    const entry = this.#entry;
    if (isHistory(entry)) {
      return;
    }
    const taken = fieldsTaken(entry);
    const left: string[] = [];
    for (const field of this.#shapes.value.fields(this.#row)) {
      const name = columnOfField(field, entry);
      if (name === null) {
        this.remarks.push(`REVIEW: no column takes the field ${printable(field)} by its name: name one in columns`);
      } else if (isOfFlattening(entry, field) || taken.has(field) || Object.hasOwn(entry.columns, name)) {
        left.push(field);
      } else {
        this.found.set(name, this.#shapes.value.at([...this.#row, field], this.#row));
      }
    }
    const unnamed = left.filter((field) => !taken.has(field));
    if (unnamed.length > 0) {
      this.remarks.push(`left out: ${unnamed.map(printable).join(', ')}`);
    }
  }

  #addNamed(): void {
    for (const [name, setting] of Object.entries(this.#entry.columns)) {
      if (setting !== false) {
        this.found.set(name, this.#named(setting));
      } else if (!this.found.has(name)) {
        this.found.set(name, { type: 'text', isNotNull: false, guess: 'false in columns, so no record says its type' });
      }
    }
  }

  #named({ from, as }: Exclude<ColumnSetting, false>): KnownValue | undefined {
    const known = this.#ofSource(parseSource(from));
    return as === undefined ? known : withUnit(known, as);
  }

  #ofSource(source: ColumnSource): KnownValue | undefined {
    const { value, key } = this.#shapes;
    switch (source.kind) {
      case 'field':
        return source.path.length === 0
          ? { type: this.#wholeType(), isNotNull: false }
          : value.at([...this.#row, ...source.path], this.#row);
      case 'event':
        return firstOf(source.path) === 'op' ? { type: 'text', isNotNull: false } : value.at(source.path, []);
      case 'key':
        this.takesKey = true;
        return key.at(source.path, []);
      default:
        return ALWAYS[source.kind];
    }
  }

  /** Bytes come as base64. */
  #wholeType(): string {
    return this.#valueFormat === 'text' || this.#valueFormat === 'bytes' ? 'text' : 'jsonb';
  }
}

/** The unit is no guess: a person has set it. */
function withUnit(known: KnownValue | undefined, unit: Unit): KnownValue | undefined {
  const type = typeOfUnit(unit);
  return type === undefined ? known : { type, isNotNull: known?.isNotNull ?? false };
}

/** What several topics say of one column. */
function columnOfFindings(name: string, findings: readonly ColumnFinding[], isOfKey: boolean): WantedColumn {
  const known = findings.flatMap((finding) => finding.known ?? []);
  const type = widestType(known.map((each) => each.type));
  const guesses = new Set(known.flatMap(({ guess }) => guess ?? []));
  const notes = new Set(known.flatMap(({ note }) => note ?? []));
  const types = [...new Set(known.map((each) => each.type))];
  const differ =
    types.length > 1
      ? [`${findings.flatMap((each) => (each.known ? `${each.topic} has ${each.known.type}` : [])).join(', ')}`]
      : [];
  const unknown = type === undefined ? ['nothing is known of its values, so text is a guess'] : [];
  return {
    name,
    type: type ?? 'text',
    isNotNull: isOfKey || (known.length === findings.length && known.every(({ isNotNull }) => isNotNull)),
    remarks: [...[...guesses, ...differ, ...unknown].map((words) => `REVIEW: ${words}`), ...notes],
  };
}

/** A schema says nothing of conditions. */
const BY_SCHEMA = ', and its columns are those of all records';

/**
 * The columns that a table needs.
 *
 * @param entries of the settings that fill the table
 * @param shapes of all of their topics
 */
export function wantedTable(
  entries: readonly TableSettings[],
  shapes: readonly TopicShapes[],
  settings: Settings,
): WantedTable {
  const findings = new Map<string, ColumnFinding[]>();
  const remarks: string[] = [];
  const parts = entries.flatMap((entry) =>
    shapes
      .filter(({ topic }) => entry.topics.includes(topic))
      .map((each) => ({ entry, each, columns: new EntryColumns(entry, each, settings) })),
  );
  for (const { entry, each, columns } of parts) {
    remarks.push(each.value.basis, ...(columns.takesKey ? [each.key.basis] : []), ...columns.remarks);
    remarks.push(...conditionLines(entry).map((line) => (each.value.isGuess ? line : `REVIEW: ${line}${BY_SCHEMA}`)));
    for (const [name, known] of columns.found) {
      findings.set(name, [...(findings.get(name) ?? []), { known, topic: each.topic }]);
    }
  }
  const keys = new Set(entries.flatMap(({ key }) => key?.columns ?? []));
  const columns = [...findings].map(([name, found]) => {
    const absent = parts.length - found.length;
    const column = columnOfFindings(name, found, keys.has(name));
    return absent > 0 && !keys.has(name) ? { ...column, isNotNull: false } : column;
  });
  return { columns, remarks: [...new Set(remarks)] };
}
