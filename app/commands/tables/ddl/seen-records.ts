import { parseSource } from '../../../../settings/sections/column-source.ts';
import type { Format } from '../../../../settings/sections/formats.ts';
import type { TableSettings } from '../../../../settings/sections/tables.ts';
import type { Side } from '../../../formats/parts/field-reader.ts';
import { schemaIdOf } from '../../../formats/wire-format.ts';
import type { RecordCursor } from '../../../records/record-batch.ts';
import { DocumentFields } from '../../../tables/json/document-fields.ts';
import { EnvelopeFields } from '../../../tables/json/envelope-fields.ts';
import { sentJson } from '../../../tables/json/json-slice.ts';
import type { FieldPath } from '../../../tables/mapping/table-mapping.ts';
import { ColumnPlan, rowPath } from '../../../tables/rows/column-plan.ts';
import { Conditions, Operations } from '../../../tables/table/record-operation.ts';
import { SeenShape } from './topic-shape.ts';

/** What is looked at in the values, or in the keys, of one topic's records. */
export class SideOfRecords {
  readonly shape: SeenShape;
  readonly side: Side;
  readonly #formats: readonly Format[];
  readonly #fields = new EnvelopeFields([[]]);
  readonly #wrapper = new DocumentFields([['schema'], ['payload']]);
  readonly #mayBeWrapped: boolean;
  /** Of the last record that has one; 0: none has. */
  schemaId = 0;
  /** What is around the payload of the last record that has a schema there. */
  schema: unknown;
  /** Values that are none of JSON. */
  unread = 0;

  constructor(side: Side, formats: readonly Format[], { row, wanted, isWrapped }: WantedParts) {
    this.side = side;
    this.#formats = formats;
    this.#mayBeWrapped = isWrapped;
    this.shape = new SeenShape(row, wanted);
  }

  add(record: RecordCursor): void {
    const { bytes } = record.batch;
    const [at, length] =
      this.side === 'value' ? [record.valueAt, record.valueLength] : [record.keyAt, record.keyLength];
    const id = this.#formats.includes('registry') ? schemaIdOf(record, this.side) : 0;
    if (id !== 0) {
      this.schemaId = id;
    } else if (length >= 0) {
      this.#addBytes(bytes, at, at + length);
    }
  }

  #addBytes(bytes: Buffer, start: number, end: number): void {
    if (this.#formats.some((format) => format === 'text' || format === 'bytes')) {
      this.shape.add({ bytes, start, end, kind: 'text', hasEscapes: true });
      return;
    }
    if (this.#fields.read(bytes, start, end) !== null) {
      this.unread += 1;
      // A key without a format is text where it is no JSON.
      if (this.side === 'key') {
        this.shape.add({ bytes, start, end, kind: 'text', hasEscapes: true });
      }
      return;
    }
    const value = this.#fields.of(0);
    if (this.#mayBeWrapped && this.#wrapper.read(bytes, start, end) === null) {
      const schema = this.#wrapper.of(0);
      const isSchema = schema?.kind === 'object' && this.#wrapper.of(1) !== undefined;
      this.schema = isSchema ? JSON.parse(sentJson(schema)) : this.schema;
    }
    if (value !== undefined) {
      this.shape.add(value);
    }
  }
}

/** What columns take of the values, or of the keys. */
interface WantedParts {
  readonly row: FieldPath;
  readonly wanted: readonly FieldPath[];
  /** Whether an object of schema and payload may be around them. */
  readonly isWrapped: boolean;
}

/** The parts that columns of these entries take, beside the fields of their rows. */
export function wantedParts(entries: readonly TableSettings[]): Readonly<Record<Side, WantedParts>> {
  const envelope = entries.find((entry) => entry.envelope !== undefined)?.envelope;
  const row = rowPath(envelope);
  const sources = entries.flatMap(({ columns }) => Object.values(columns));
  const parts = sources.flatMap((setting) => (setting === false ? [] : [parseSource(setting.from)]));
  const value = parts.flatMap((source) =>
    source.kind === 'field'
      ? [source.path.length === 0 ? [] : [...row, ...source.path]]
      : source.kind === 'event'
        ? [source.path]
        : [],
  );
  const key = parts.flatMap((source) => (source.kind === 'key' ? [source.path] : []));
  return {
    value: { row, wanted: value, isWrapped: envelope !== undefined },
    key: { row: [], wanted: [[], ...key.filter((path) => path.length > 0)], isWrapped: true },
  };
}

/** Whether an entry takes a record, by its conditions; `null` where it has none. */
function conditionsOf({ schema, table, topics, key, envelope, when }: TableSettings) {
  const mapping = {
    ...{ schema, table, topics, columns: [], stage: null },
    key: key && { ...key, columns: key.columns ?? [] },
    ...(envelope && { envelope }),
    ...(when && { when }),
  };
  const plan = new ColumnPlan(mapping);
  const conditions = Conditions.of(mapping, plan, new Operations(plan, mapping));
  const value = new EnvelopeFields(plan.values);
  return (
    conditions &&
    ((record: RecordCursor): boolean => {
      const { valueAt, valueLength } = record;
      const hasValue = valueLength >= 0;
      const isJson = hasValue && value.read(record.batch.bytes, valueAt, valueAt + valueLength) === null;
      const holds = () => conditions.ofValue(isJson ? value : null, hasValue) === 'hold';
      return conditions.holdForHeaders(record) && ((hasValue && !isJson) || holds());
    })
  );
}

/**
 * Whether a table takes a record, by the conditions of its entries. Conditions on fields hold for a value that is no
 * JSON, as its schema shows its fields.
 *
 * @returns `null` where an entry takes all records
 */
export function takenBy(entries: readonly TableSettings[]): ((record: RecordCursor) => boolean) | null {
  const each = entries.map(conditionsOf);
  const conditions = each.flatMap((holds) => holds ?? []);
  return conditions.length < each.length ? null : (record) => conditions.some((holds) => holds(record));
}
