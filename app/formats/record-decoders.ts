import { DEAD_LETTER_REASON } from '../../contract/dead-letter-reasons.ts';
import type { RecordCursor } from '../records/record-batch.ts';
import type { DecodedRecord, RecordDecoder, RecordDecoders } from '../store/tables/record-rows.ts';
import type { Refusal } from '../store/tables/table.ts';
import { contentOf, isString, type JsonSlice, sentJson } from '../tables/json/json-slice.ts';
import type { FieldReaders } from './field-readers.ts';
import type { FieldReader, Taken } from './parts/field-reader.ts';

const WHOLE_VALUE: Taken = { paths: [[]] };

/** Why a value or a key cannot be read; `null` when it can, or there is none. */
function readWhole(
  fields: FieldReader | null,
  at: number,
  length: number,
  record: RecordCursor,
): Pick<Refusal, 'reason' | 'error'> | null {
  const reason = fields === null || length < 0 ? null : fields.read(record.batch.bytes, at, at + length, record);
  return reason === null ? null : { reason, error: fields?.words ?? DEAD_LETTER_REASON[reason] };
}

/** Keys of `records` are text: the content of a string, all else as JSON. */
const textOf = (key: JsonSlice | undefined): string | null =>
  key === undefined ? null : isString(key) ? contentOf(key) : sentJson(key);

/** Decodes whole values and keys of a topic. */
class TopicDecoder implements RecordDecoder {
  /** `null` where values are JSON, which PostgreSQL reads. */
  readonly #value: FieldReader | null;
  /** `null` where keys are text. */
  readonly #key: FieldReader | null;

  constructor(value: FieldReader | null, key: FieldReader | null) {
    this.#value = value;
    this.#key = key;
  }

  decode(record: RecordCursor): DecodedRecord | Pick<Refusal, 'reason' | 'error'> {
    const { keyAt, keyLength, valueAt, valueLength } = record;
    const refusal =
      readWhole(this.#value, valueAt, valueLength, record) ?? readWhole(this.#key, keyAt, keyLength, record);
    if (refusal !== null) {
      return refusal;
    }
    const value = valueLength < 0 ? undefined : this.#value?.of(0);
    return {
      ...(this.#value !== null && { value: value === undefined ? null : sentJson(value) }),
      ...(this.#key !== null && { key: keyLength < 0 ? null : textOf(this.#key.of(0)) }),
    };
  }
}

/** What decodes records for the table `records`, by their topic. */
export function recordDecoders(readers: FieldReaders): RecordDecoders {
  const decoders = new Map<string, RecordDecoder | null>();
  const decoderOf = (topic: string): RecordDecoder | null => {
    const value = readers.hasJsonValues(topic) ? null : readers.ofValue(topic, WHOLE_VALUE);
    const key = readers.ofKey(topic, WHOLE_VALUE);
    return value === null && key === null ? null : new TopicDecoder(value, key);
  };
  return (topic) => {
    const known = decoders.get(topic);
    if (known !== undefined) {
      return known;
    }
    const decoder = decoderOf(topic);
    decoders.set(topic, decoder);
    return decoder;
  };
}
