import { pathText } from '../../../../settings/sections/column-source.ts';
import {
  type CheckedMapping,
  DEFAULT_MARKER_SINCE,
  type UnwrittenColumn,
} from '../../../tables/mapping/resolve-mapping.ts';
import {
  type ColumnSource,
  type Condition,
  isOfDebezium,
  type MappedColumn,
  type TableEnvelope,
  type TableKey,
} from '../../../tables/mapping/table-mapping.ts';
import { keyLines, type RecordKeys, takesRecordKey } from './record-keys.ts';
import { schemaFindings, schemaLines, type TopicSchema } from './topic-schemas.ts';

/** A source as the settings take it. */
function sourceText(source: ColumnSource): string {
  switch (source.kind) {
    case 'field':
      return source.path.length === 0 ? '$value' : pathText(source.path);
    case 'key': {
      const path = pathText(source.path);
      return path === '' || path.startsWith('/') ? `$key${path}` : `$key.${path}`;
    }
    case 'header':
      return `$header.${source.name}`;
    case 'event': {
      const [part, ...path] = source.path;
      const below = pathText(path);
      return below === '' || below.startsWith('/') ? `$${part}${below}` : `$${part}.${below}`;
    }
    default:
      return `$${source.kind}`;
  }
}

/** Of every record Kafka says these. */
const ALWAYS_THERE: readonly ColumnSource['kind'][] = ['topic', 'partition', 'offset'];

/** What a record that has no value for the column comes to. */
function withoutValue({ source, isNotNull, hasDefault }: MappedColumn): 'default' | 'dead letter' | 'null' | null {
  if (ALWAYS_THERE.includes(source.kind)) {
    return null;
  }
  return hasDefault ? 'default' : isNotNull ? 'dead letter' : 'null';
}

const SHOWN = { default: 'DEFAULT', null: 'NULL', 'dead letter': 'dead letter' } as const;

const MAPPING_HEADINGS = ['COLUMN', '<- SOURCE', '-> TYPE', 'NO VALUE'] as const;

function mappingCells(column: MappedColumn, key: TableKey | null): readonly string[] {
  const missing = withoutValue(column);
  const unit = column.unit === undefined ? '' : ` as ${column.unit}`;
  return [
    column.name,
    `<- ${sourceText(column.source)}${unit}${takesRecordKey(column, key) ? ', else $key' : ''}`,
    `-> ${column.type.name}${column.isNotNull ? ' NOT NULL' : ''}`,
    missing === null ? '-' : SHOWN[missing],
  ];
}

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = MAPPING_HEADINGS.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

const GETS = {
  generated: 'generated',
  identity: 'identity',
  default: 'its default',
  null: 'NULL',
} as const satisfies Readonly<Record<UnwrittenColumn['gets'], string>>;

/** A list behind its heading; nothing where it is empty. */
const note = (heading: string, items: readonly string[]): readonly string[] =>
  items.length === 0 ? [] : [`${heading}: ${items.join(', ')}`];

/** PostgreSQL's major version. */
const majorOf = (serverVersion: number): number => Math.floor(serverVersion / 10_000);

/** Before the marker DEFAULT a column that is mapped gets NULL where its field is missing. */
function ofOldServer({ serverVersion, relation, columns, unwritten }: CheckedMapping): readonly string[] {
  if (serverVersion >= DEFAULT_MARKER_SINCE) {
    return [];
  }
  const withDefault = new Map(relation.columns.filter(({ hasDefault }) => hasDefault).map((each) => [each.name, each]));
  const left = unwritten.filter(({ name }) => withDefault.get(name)?.identity !== 'always' && withDefault.has(name));
  const named = columns.filter(({ name }) => withDefault.has(name));
  const reason = `COPY of PostgreSQL ${majorOf(serverVersion)} has no DEFAULT (16 and later have)`;
  const names = (of: readonly { readonly name: string }[]) => of.map(({ name }) => name);
  return [
    ...note(`left to their defaults unless columns names them, as ${reason}`, names(left)),
    ...note(`NULL and no default where the field is missing, as ${reason}`, names(named)),
  ];
}

const EXISTING = {
  replace: 'rows that are there are replaced',
  keep: 'rows that are there stay as they are',
} as const satisfies Readonly<Record<TableKey['existing'], string>>;

const existingOf = ({ existing, version }: TableKey): string =>
  version === undefined ? EXISTING[existing] : `${EXISTING[existing]} unless their ${version} is newer`;

function deletedBy({ delete: deletes, version }: TableKey, envelope: CheckedMapping['envelope']): string {
  if (envelope?.format === 'debezium') {
    return 'events d and tombstones delete them, by the record key alone';
  }
  if (typeof deletes === 'string') {
    return deletes === 'never' ? 'nothing deletes them' : 'tombstones delete them';
  }
  const unless = version === undefined || envelope?.format === 'debezium-flat' ? '' : ', unless they are newer';
  return `tombstones delete them, and records whose ${pathText(deletes)} is true${unless}`;
}

/** How rows come into the table, where a COPY alone is not enough. */
function ofStage({ key, stage, envelope }: CheckedMapping): readonly string[] {
  if (stage === null) {
    return [];
  }
  return key === null
    ? ['through a temporary table, as the table has row-level security']
    : [
        `key: ${key.columns.join(', ')}${key.isPrimary ? ', the primary key' : ''}; ${existingOf(key)}; ${deletedBy(key, envelope)}; through a temporary table`,
      ];
}

const ENVELOPES = {
  debezium: 'change events of Debezium',
  'debezium-flat': 'flattened change events of Debezium',
  connect: 'rows, which may have a schema around them',
} as const satisfies Readonly<Record<TableEnvelope['format'], string>>;

/** What the values are. */
function ofEnvelope({ envelope, key }: CheckedMapping): readonly string[] {
  if (envelope === undefined) {
    return [];
  }
  const keeps = key !== null && isOfDebezium(envelope);
  return [
    `values: ${ENVELOPES[envelope.format]}${keeps ? `; a column that ${envelope.unavailableValue} comes for keeps what it has` : ''}`,
  ];
}

const textOfCondition = ({ source, values }: Condition): string => `${sourceText(source)} is ${values.join(' or ')}`;

/** Which records a table takes; nothing where it takes all. */
export const conditionLines = ({ when = [] }: { readonly when?: readonly Condition[] }): readonly string[] =>
  when.length === 0 ? [] : [`takes records where ${when.map(textOfCondition).join(', and ')}`];

const ofConditions = (mapping: CheckedMapping): readonly string[] =>
  conditionLines(mapping).map(
    (line) => `${line}${mapping.refusesUnmatched ? '; what no table takes is a dead letter' : ''}`,
  );

/** Another schema with offsets of a topic, or one that the role may not look into. */
export interface OffsetsElsewhere {
  readonly schema: string;
  /** Left out, with the topic: not known. */
  readonly groupId?: string;
  readonly topic?: string;
}

/** Those that matter to a mapping. */
const ofTopics = ({ topics }: CheckedMapping, elsewhere: readonly OffsetsElsewhere[]): readonly OffsetsElsewhere[] =>
  elsewhere.filter(({ topic }) => topic === undefined || topics.includes(topic));

const shownElsewhere = ({ schema, groupId, topic }: OffsetsElsewhere): string =>
  topic === undefined
    ? `the schema ${schema} may hold offsets of these topics: the role may not read it`
    : `the schema ${schema} holds offsets of ${topic} by group ${groupId}: where that group fills this table, too, each record is in it twice`;

/** What of these lines somebody should look at, although the table fits. */
export const warningLines = (
  mapping: CheckedMapping,
  elsewhere: readonly OffsetsElsewhere[],
  keys: readonly RecordKeys[],
  schemas: readonly TopicSchema[],
): readonly string[] => [
  ...elsewhere.filter(({ topic }) => topic !== undefined && mapping.topics.includes(topic)).map(shownElsewhere),
  ...[...keyLines(mapping, keys), ...schemaFindings(mapping, schemas).flatMap(schemaLines)].filter((line) =>
    line.startsWith('WARNING'),
  ),
];

/**
 * A mapping for a person.
 *
 * @param elsewhere offsets in other schemas of the database. @default none
 * @param keys what the last records of its topics are keyed by. @default not known
 * @param schemas the latest ones of its topics. @default none
 */
export function mappingLines(
  mapping: CheckedMapping,
  elsewhere: readonly OffsetsElsewhere[] = [],
  keys: readonly RecordKeys[] = [],
  schemas: readonly TopicSchema[] = [],
): readonly string[] {
  const { schema, table, topics, columns, key, unwritten, relation } = mapping;
  const seen = columns.filter(({ isNotNull, source }) => isNotNull && !ALWAYS_THERE.includes(source.kind));
  const notes = [
    ...ofConditions(mapping),
    ...ofEnvelope(mapping),
    ...ofStage(mapping),
    ...note(
      'left to PostgreSQL',
      unwritten.map(({ name, gets }) => `${name} (${GETS[gets]})`),
    ),
    ...note(
      'NOT NULL, seen record by record',
      seen.map(({ name }) => name),
    ),
    ...note('row triggers, which may change or drop rows', relation.rowTriggers),
    ...ofOldServer(mapping),
    ...ofTopics(mapping, elsewhere).map(shownElsewhere),
    ...keyLines(mapping, keys),
    ...schemaFindings(mapping, schemas).flatMap(schemaLines),
  ];
  return [
    `${topics.join(', ')} -> ${schema}.${table}`,
    ...[...aligned([MAPPING_HEADINGS, ...columns.map((column) => mappingCells(column, key))]), ...notes].map(
      (line) => `  ${line}`,
    ),
  ];
}

/**
 * A mapping as one line of JSON.
 *
 * @param elsewhere offsets in other schemas of the database. @default none
 * @param keys what the last records of its topics are keyed by. @default not known
 * @param schemas the latest ones of its topics. @default none
 */
export function mappingJson(
  mapping: CheckedMapping,
  elsewhere: readonly OffsetsElsewhere[] = [],
  keys: readonly RecordKeys[] = [],
  schemas: readonly TopicSchema[] = [],
): string {
  const { schema, table, topics, columns, key, stage, unwritten, relation, envelope, when } = mapping;
  return JSON.stringify({
    schema,
    table,
    topics,
    key: key && {
      columns: key.columns,
      ...(key.isPrimary && { isPrimary: true }),
      existing: key.existing,
      delete: {
        tombstones: key.delete !== 'never',
        field: typeof key.delete === 'string' ? null : pathText(key.delete),
      },
      version: key.version ?? null,
    },
    when: when?.map(({ source, values }) => ({ from: sourceText(source), values })) ?? null,
    unmatched: mapping.refusesUnmatched ? 'dead-letter' : 'count',
    envelope: envelope?.format ?? null,
    throughTemporaryTable: stage !== null,
    columns: columns.map((column) => ({
      name: column.name,
      from: sourceText(column.source),
      ...(takesRecordKey(column, key) && { else: '$key' }),
      ...(column.unit !== undefined && { as: column.unit }),
      type: column.type.name,
      notNull: column.isNotNull,
      noValue: withoutValue(column),
    })),
    unwritten,
    rowTriggers: relation.rowTriggers,
    offsetsElsewhere: ofTopics(mapping, elsewhere),
    recordKeys: keys.filter(({ topic }) => key !== null && topics.includes(topic)),
    schemas: schemaFindings(mapping, schemas),
  });
}
