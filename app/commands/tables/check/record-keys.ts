import type { RecordCursor } from '../../../records/record-batch.ts';
import { EnvelopeFields } from '../../../tables/json/envelope-fields.ts';
import { type JsonSlice, membersOf } from '../../../tables/json/json-slice.ts';
import type { CheckedMapping } from '../../../tables/mapping/resolve-mapping.ts';
import type { MappedColumn, TableKey, TableMapping } from '../../../tables/mapping/table-mapping.ts';

/** Offsets of a topic whose keys are looked at. */
export const LOOKED_AT = 100;

/** What the last records of a topic are keyed by. */
export interface RecordKeys {
  readonly topic: string;
  /** Records that were looked at. */
  readonly records: number;
  /** Names of the fields of their keys, each list once; an empty list: no key, or one that is no object. */
  readonly keyedBy: readonly (readonly string[])[];
  /** Why they could not be looked at. @default they were */
  readonly fault?: string;
}

/** Collects the names of fields of record keys. */
export class KeyNames {
  readonly #topic: string;
  readonly #fields = new EnvelopeFields([[]]);
  readonly #names = new Map<string, readonly string[]>();
  #records = 0;

  constructor(topic: string) {
    this.#topic = topic;
  }

  add({ batch, keyAt, keyLength }: RecordCursor): void {
    this.#records += 1;
    const isJson = keyLength >= 0 && this.#fields.read(batch.bytes, keyAt, keyAt + keyLength) === null;
    const names = isJson && this.#fields.kind === 'object' ? memberNames(this.#fields.of(0)) : [];
    this.#names.set(JSON.stringify(names), names);
  }

  get found(): RecordKeys {
    return { topic: this.#topic, records: this.#records, keyedBy: [...this.#names.values()] };
  }
}

const memberNames = (key: JsonSlice | undefined): readonly string[] =>
  key === undefined ? [] : [...membersOf(key).keys()];

/** Topics whose record keys matter: rows of their tables are deleted by them. */
export const topicsByKey = (mappings: readonly CheckedMapping[]): readonly string[] => [
  ...new Set(mappings.flatMap(({ envelope, key, topics }) => (envelope && key ? topics : []))),
];

/** The fields of record keys that a table takes the columns of its key from. */
export const keyFieldsOf = ({ key, columns }: TableMapping): readonly string[] =>
  columns.flatMap(({ name, source }) => {
    const isOfKey = key?.columns.includes(name) ?? false;
    const field =
      source.kind === 'field' || source.kind === 'key'
        ? source.path.findLast((part) => typeof part === 'string')
        : undefined;
    return isOfKey && typeof field === 'string' ? [field] : [];
  });

/** What the keys of a topic's last records mean for a table, in words. */
export function keyLines(mapping: CheckedMapping, keys: readonly RecordKeys[]): readonly string[] {
  if (mapping.key === null || mapping.envelope === undefined) {
    return [];
  }
  const wanted = keyFieldsOf(mapping);
  return keys.filter(({ topic }) => mapping.topics.includes(topic)).flatMap((found) => keyLine(found, wanted));
}

function keyLine({ topic, records, keyedBy, fault }: RecordKeys, wanted: readonly string[]): readonly string[] {
  if (fault !== undefined) {
    return [`keys of ${topic} were not compared with key: ${fault}`];
  }
  if (records === 0) {
    return [`keys of ${topic} were not compared with key: it has no records yet`];
  }
  const last = `the last ${records.toLocaleString('en')} records of ${topic}`;
  const lines = keyedBy.flatMap((names) => {
    const lacking = wanted.filter((name) => !names.includes(name));
    const more = names.filter((name) => !wanted.includes(name));
    if (names.length === 0) {
      return [`WARNING: of ${last} some have no key of fields: their deletes are dead letters, and rows have no order`];
    }
    if (lacking.length > 0) {
      return [
        `WARNING: of ${last} some are keyed by ${names.join(', ')}, without ${lacking.join(', ')}: their deletes are dead letters`,
      ];
    }
    return more.length > 0
      ? [
          `WARNING: of ${last} some are keyed by ${names.join(', ')}: rows of one key may be in several partitions, without an order`,
        ]
      : [];
  });
  return lines.length > 0 ? lines : [`${last} are keyed by ${wanted.join(', ')}, as the table is`];
}

/** A column of the key takes from the record key what the value lacks, as that of a tombstone. */
export const takesRecordKey = ({ name, source }: MappedColumn, key: TableKey | null): boolean =>
  source.kind === 'field' && (key?.columns.includes(name) ?? false);
