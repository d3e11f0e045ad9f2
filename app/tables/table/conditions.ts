import type { FieldReader } from '../../formats/parts/field-reader.ts';
import type { RecordCursor } from '../../records/record-batch.ts';
import { contentOf, isString, type JsonSlice, sentJson } from '../json/json-slice.ts';
import type { TableMapping } from '../mapping/table-mapping.ts';
import { type ColumnPlan, lastHeader } from '../rows/column-plan.ts';
import type { Operations } from './record-operation.ts';

/** A header, and the bytes of the values that match. */
interface HeaderCondition {
  readonly name: Buffer;
  readonly values: readonly Buffer[];
}

/** A part of the value, by its place among those that are read, and the texts that match. */
interface FieldCondition {
  readonly place: number;
  readonly values: ReadonlySet<string>;
}

/** What records need for a table to take them. Each record is judged alone, by nothing but itself. */
export class Conditions {
  readonly #headers: readonly HeaderCondition[];
  /** On what a change event does. */
  readonly #operations: readonly FieldCondition[];
  readonly #fields: readonly FieldCondition[];
  /** What a record does to the table. */
  readonly #effects: Operations;

  private constructor(when: NonNullable<TableMapping['when']>, plan: ColumnPlan, operations: Operations) {
    this.#effects = operations;
    this.#headers = when.flatMap(({ source, values }) =>
      source.kind === 'header'
        ? { name: Buffer.from(source.name, 'utf8'), values: values.map((value) => Buffer.from(value, 'utf8')) }
        : [],
    );
    this.#operations = when.flatMap(({ source, values }) =>
      source.kind === 'event' ? { place: plan.operation, values: new Set(values) } : [],
    );
    const ofFields = when.filter(({ source }) => source.kind === 'field');
    this.#fields = ofFields.map(({ values }, nth) => ({ place: plan.conditions[nth] ?? -1, values: new Set(values) }));
  }

  /** @returns `null` where the table takes all records */
  static of({ when }: TableMapping, plan: ColumnPlan, operations: Operations): Conditions | null {
    return when === undefined ? null : new Conditions(when, plan, operations);
  }

  /** Asked before anything of the record is read: of another table's record nothing is wrong here. */
  holdForHeaders(record: RecordCursor): boolean {
    return this.#headers.every(({ name, values }) => {
      const { bytes } = record.batch;
      const { at, length } = lastHeader(name, record);
      return length >= 0 && values.some((value) => bytes.compare(value, 0, value.length, at, at + length) === 0);
    });
  }

  /** @param value the fields of the record's value, where it has one */
  holdForValue(value: FieldReader | null, hasValue: boolean): boolean {
    const holds = ({ place, values }: FieldCondition): boolean => {
      const text = hasValue ? textOf(value?.of(place)) : null;
      return text !== null && values.has(text);
    };
    return this.#operations.every(holds) && (this.#effects.isWithoutRow(value, hasValue) || this.#fields.every(holds));
  }
}

/** As a column of text would get it; `null` for NULL, an object or a list. */
function textOf(field: JsonSlice | undefined): string | null {
  if (field === undefined || field.kind === 'null' || field.kind === 'object' || field.kind === 'list') {
    return null;
  }
  return isString(field) ? contentOf(field) : sentJson(field);
}
