import { type Static, Type } from 'typebox';
import type { Rule } from '../../schema/check.ts';
import { type Problem, problemIf } from '../../schema/problem.ts';
import { ALLOWED } from '../../schema/schema.ts';
import { parseSource, sourceMistake } from '../column-source.ts';
import type { TableKeySetting } from './table-key.ts';

/** What is around the rows of a topic, as its producer writes them. */
export type EnvelopeFormat = 'debezium' | 'debezium-flat' | 'connect';

/** The envelope of an entry's topics. */
export interface TableEnvelope {
  readonly format: EnvelopeFormat;
  /** What the source sends in place of a large value that an update did not change: `unavailable.value.placeholder`. */
  readonly unavailableValue: string;
}

/** What Debezium sends unless its connector says otherwise. */
export const UNAVAILABLE_VALUE = '__debezium_unavailable_value';

/** The field by which Debezium's ExtractNewRecordState says that a row is deleted. */
const DELETED_FIELD = '__deleted';

/** What an entry of `tables` says of the envelope of its topics. */
export const ENVELOPE_PROPERTIES = {
  envelope: Type.Optional(
    Type.Enum(['debezium', 'debezium-flat', 'connect'], {
      description:
        'What is around each row: debezium, its change events; debezium-flat, the same by ExtractNewRecordState; connect, an object of schema and payload. Left out: the value is the row.',
    }),
  ),
  unavailableValue: Type.Optional(
    Type.String({
      minLength: 1,
      [ALLOWED]:
        'the text that the connector has as unavailable.value.placeholder, with its prefix hex: where it has one',
      description: `What Debezium sends for a large value that an update did not change: the column keeps what it has. Only with its envelopes. Left out: ${UNAVAILABLE_VALUE}.`,
    }),
  ),
};

/** As much of an entry as the envelope is about. */
interface EnvelopedEntry {
  readonly topic: string | readonly string[];
  readonly envelope?: Static<(typeof ENVELOPE_PROPERTIES)['envelope']>;
  readonly unavailableValue?: string;
  readonly key?: string | readonly string[];
  readonly existing?: string;
  readonly delete?: string;
  readonly columns: Readonly<Record<string, unknown>>;
}

interface EnvelopedTables {
  readonly tables: readonly EnvelopedEntry[];
}

const isOfDebezium = ({ envelope }: EnvelopedEntry): boolean => envelope === 'debezium' || envelope === 'debezium-flat';

/** The envelope of an entry; `undefined` where the value is the row. */
export const tableEnvelopeOf = ({
  envelope: format,
  unavailableValue = UNAVAILABLE_VALUE,
}: EnvelopedEntry): TableEnvelope | undefined => format && { format, unavailableValue };

/** The key with what the envelope says of deletes. */
export const keyInEnvelope = ({ envelope }: EnvelopedEntry, key: TableKeySetting | null): TableKeySetting | null =>
  key !== null && envelope === 'debezium-flat' ? { ...key, delete: [DELETED_FIELD] } : key;

/** The sources of an entry's columns that are texts, by the paths of their settings. */
const sourcesOf = ({ columns }: EnvelopedEntry, index: number): readonly (readonly [path: string, from: string])[] =>
  Object.entries(columns).flatMap(([name, column]) => {
    const path = `tables[${index}].columns.${name}`;
    if (typeof column === 'string') {
      return [[path, column] as const];
    }
    const from = typeof column === 'object' && column !== null && 'from' in column ? column.from : undefined;
    return typeof from === 'string' ? [[`${path}.from`, from] as const] : [];
  });

const hasKey: Rule<EnvelopedTables> = {
  reads: ['tables'],
  find: ({ tables }) =>
    tables.flatMap((entry, index) => {
      const isHistory = entry.envelope === 'debezium' && sourcesOf(entry, index).some(([, from]) => from === '$value');
      return problemIf(isOfDebezium(entry) && entry.key === undefined && !isHistory, {
        path: `tables[${index}].envelope`,
        message: 'needs a key beside it: a change event replaces or deletes the row that has its key',
        given: entry.envelope,
        allowed:
          entry.envelope === 'debezium'
            ? 'key, with the columns that the records are keyed by (a table without one gets it by message.key.columns at the source). Or columns with one that takes $value, for a history of events'
            : 'key, with the columns that the records are keyed by; or no envelope, and each flattened row is appended',
      });
    }),
};

const deletesBySource: Rule<EnvelopedTables> = {
  reads: ['tables'],
  find: ({ tables }) =>
    tables.flatMap((entry, index): readonly Problem[] => {
      const given = { existing: entry.existing === 'keep' ? 'keep' : undefined, delete: entry.delete };
      return (['existing', 'delete'] as const).flatMap((name) =>
        problemIf(isOfDebezium(entry) && given[name] !== undefined, {
          path: `tables[${index}].${name}`,
          message: `is not for envelope ${entry.envelope}: its events say what replaces and what deletes a row`,
          given: given[name],
          allowed: 'nothing here',
        }),
      );
    }),
};

const hasPlaceholders: Rule<EnvelopedTables> = {
  reads: ['tables'],
  find: ({ tables }) =>
    tables.flatMap((entry, index) =>
      problemIf(entry.unavailableValue !== undefined && !isOfDebezium(entry), {
        path: `tables[${index}].unavailableValue`,
        message: 'is set without an envelope of Debezium, which alone sends placeholders',
        given: entry.unavailableValue,
        allowed: 'nothing here; or envelope: debezium or debezium-flat beside it',
      }),
    ),
};

/** Other digits are none of a byte: what is left may be nothing, and an empty text would count as a placeholder. */
const HEX_OR_TEXT = /^(?!hex:)|^hex:(?:[0-9A-Fa-f]{2})+$/;

const hexPlaceholders: Rule<EnvelopedTables> = {
  reads: ['tables'],
  find: ({ tables }) =>
    tables.flatMap(({ unavailableValue: given }, index) =>
      problemIf(given !== undefined && !HEX_OR_TEXT.test(given), {
        path: `tables[${index}].unavailableValue`,
        message: 'begins with hex:, and what follows is no bytes in hex',
        given,
        allowed: 'hex: and two digits from 0 to 9 or a to f for each byte, as the connector has it',
      }),
    ),
};

const eventSources: Rule<EnvelopedTables> = {
  reads: ['tables'],
  find: ({ tables }) =>
    tables.flatMap((entry, index) =>
      sourcesOf(entry, index).flatMap(([path, given]) =>
        problemIf(
          entry.envelope !== 'debezium' && sourceMistake(given) === undefined && parseSource(given).kind === 'event',
          {
            path,
            message: 'takes a part of a change event, and the entry has not envelope: debezium',
            given,
            allowed: 'envelope: debezium beside the columns; or another source',
          },
        ),
      ),
    ),
};

const topicsOf = ({ topic }: EnvelopedEntry): readonly string[] => (typeof topic === 'string' ? [topic] : topic);

/** A topic's records are all of one form. */
const oneOfTopic: Rule<EnvelopedTables> = {
  reads: ['tables'],
  find: ({ tables }) => {
    const firsts = new Map<string, number>();
    return tables.flatMap((entry, index) =>
      topicsOf(entry).flatMap((topic): readonly Problem[] => {
        const first = firsts.get(topic) ?? index;
        firsts.set(topic, first);
        const other = tables[first]?.envelope;
        return problemIf(other !== entry.envelope, {
          path: `tables[${index}].envelope`,
          message: `is another one for the topic ${topic} than that of tables[${first}], which ${other === undefined ? 'has none' : `is ${other}`}`,
          given: entry.envelope,
          allowed: 'the same envelope in all entries of a topic',
        });
      }),
    );
  },
};

/** What the schema cannot say of envelopes. */
export const ENVELOPE_RULES: readonly Rule<EnvelopedTables>[] = [
  hasKey,
  deletesBySource,
  hasPlaceholders,
  hexPlaceholders,
  eventSources,
  oneOfTopic,
];
