import { type Format, type FormatName, isOfFile, type TopicFormats } from '../../settings/sections/formats.ts';
import { DocumentFields } from '../tables/json/document-fields.ts';
import { EnvelopeFields } from '../tables/json/envelope-fields.ts';
import { FileFields } from './file-fields.ts';
import { FirstByteFields } from './first-byte-fields.ts';
import type { FieldReader, Side, Taken } from './parts/field-reader.ts';
import type { Schemas } from './registry/schemas.ts';
import { RegistryFields } from './registry-fields.ts';
import { WholeFields, wholeBytes, wholeText } from './whole-fields.ts';

/** How each format is read. */
const READERS: Readonly<Record<FormatName, (taken: Taken, side: Side, schemas: Schemas) => FieldReader>> = {
  json: ({ paths, others, envelope }) =>
    envelope === undefined ? new DocumentFields(paths, others) : new EnvelopeFields(paths, others),
  registry: (taken, side, schemas) => new RegistryFields(schemas, side, taken),
  text: ({ paths }, side) => new WholeFields(wholeText, paths, side),
  bytes: ({ paths }, side) => new WholeFields(wholeBytes, paths, side),
};

const NO_SCHEMAS: Schemas = {
  of: () => undefined,
  fetch: async () => {
    throw new RangeError('no registry is set');
  },
};

/** Makes the readers of values and keys, by the formats of their topics. */
export class FieldReaders {
  readonly #formatsOf: (topic: string) => TopicFormats;
  readonly #schemas: Schemas;

  /** @param schemas of the registry. Left out: no topic has that format */
  constructor(formatsOf: (topic: string) => TopicFormats, schemas = NO_SCHEMAS) {
    this.#formatsOf = formatsOf;
    this.#schemas = schemas;
  }

  /** Of the values of a topic. */
  ofValue(topic: string, taken: Taken): FieldReader {
    return this.#of(this.#formatsOf(topic).value, taken, 'value');
  }

  /** Of the keys of a topic; `null` where they are text: then they are taken as they are, or fields of JSON of them. */
  ofKey(topic: string, taken: Taken): FieldReader | null {
    const { key = TEXT } = this.#formatsOf(topic);
    return isOnly(key, 'text') ? null : this.#of(key, taken, 'key');
  }

  /** Whether the values of a topic are JSON alone. */
  hasJsonValues(topic: string): boolean {
    return isOnly(this.#formatsOf(topic).value, 'json');
  }

  #of([first = 'json', second]: readonly Format[], taken: Taken, side: Side): FieldReader {
    const one = this.#reader(first, taken, side);
    return second === undefined ? one : new FirstByteFields(one, this.#reader(second, taken, side));
  }

  #reader(format: Format, taken: Taken, side: Side): FieldReader {
    return isOfFile(format) ? new FileFields(format, taken) : READERS[format](taken, side, this.#schemas);
  }
}

const TEXT: readonly Format[] = ['text'];

const isOnly = (formats: readonly Format[], format: FormatName): boolean => formats.every((name) => name === format);

/** Where the settings say nothing of formats. */
export const JSON_READERS = new FieldReaders(() => ({ key: undefined, value: ['json'] }));
