import { type Static, Type } from 'typebox';
import type { Rule } from '../../schema/check.ts';
import { type Problem, problemIf } from '../../schema/problem.ts';
import { ALLOWED, closed } from '../../schema/schema.ts';
import { type ColumnSource, parseSource, sourceMistake } from '../column-source.ts';

/** What a condition looks at: a field of the value, a header, or what a change event does. */
type ConditionSource = Extract<ColumnSource, { readonly kind: 'field' | 'header' | 'event' }>;

/** What a record has to have for a table to take it. */
export interface Condition {
  readonly source: ConditionSource;
  /** The texts that match: of a string its content, of a number its digits, `true` or `false`. At least one. */
  readonly values: readonly string[];
}

const CONDITION_ALLOWED = 'a text, a whole number, true or false; or a list of them';

const value = Type.Union([Type.String(), Type.Integer(), Type.Boolean()]);
const values = Type.Union([...value.anyOf, Type.Array(value, { minItems: 1 })], { [ALLOWED]: CONDITION_ALLOWED });

/** What an entry of `tables` says of the records that the table takes. */
export const CONDITION_PROPERTIES = {
  when: Type.Optional(
    Type.Unsafe<Readonly<Record<string, Static<typeof values>>>>(
      Type.Object(
        {},
        {
          ...closed,
          patternProperties: { '^.+$': values },
          description:
            'Values of a field, of $header.<name> or of $op, one of which a record has for the table to take it; of several names, each has to match. Left out: the table takes all records of its topics.',
        },
      ),
    ),
  ),
  unmatched: Type.Optional(
    Type.Enum(['count', 'dead-letter'], {
      description:
        'What becomes of a record that the when of no table of its topic matches: it is counted in consumer_records_unmatched_total, or it is a dead letter. Left out: count.',
    }),
  ),
};

/** As much of an entry as its conditions are about. */
interface ConditionedEntry {
  readonly topic: string | readonly string[];
  readonly envelope?: string;
  readonly when?: Static<(typeof CONDITION_PROPERTIES)['when']>;
  readonly unmatched?: Static<(typeof CONDITION_PROPERTIES)['unmatched']>;
}

interface ConditionedTables {
  readonly tables: readonly ConditionedEntry[];
}

const isConditionSource = (source: ColumnSource): source is ConditionSource =>
  source.kind === 'header' ||
  (source.kind === 'field' && source.path.length > 0) ||
  (source.kind === 'event' && source.path[0] === 'op');

/** The conditions of an entry; `undefined` where it has none. */
export const conditionsOf = ({ when }: ConditionedEntry): readonly Condition[] | undefined =>
  when &&
  Object.entries(when).map(([name, given]) => {
    const source = parseSource(name);
    if (!isConditionSource(source)) {
      throw new RangeError(`${name} is nothing that a condition looks at`);
    }
    return { source, values: [given].flat().map(String) };
  });

const SOURCE_ALLOWED = 'the path of a field, such as type or meta.type; $header.<name>; or $op';

/** The letters that Debezium writes as `op`. */
const EVENT_OPERATIONS = ['c', 'r', 'u', 'd', 't'];

function conditionProblem(name: string, given: unknown, { envelope }: ConditionedEntry, path: string) {
  const mistake = sourceMistake(name);
  if (mistake !== undefined) {
    return { path, ...mistake, allowed: SOURCE_ALLOWED };
  }
  const source = parseSource(name);
  if (!isConditionSource(source)) {
    return { path, message: 'is nothing that a condition looks at', allowed: SOURCE_ALLOWED };
  }
  if (source.kind !== 'event') {
    return undefined;
  }
  if (envelope !== 'debezium') {
    const message = 'looks at a part of a change event, and the entry has not envelope: debezium';
    return { path, message, allowed: 'envelope: debezium beside when; or another condition' };
  }
  const unknown = [given].flat().filter((each) => !EVENT_OPERATIONS.includes(String(each)));
  const message = 'has a value that no change event has';
  return unknown.length === 0 ? undefined : { path, message, given, allowed: EVENT_OPERATIONS.join(', ') };
}

const conditionsAreRight: Rule<ConditionedTables> = {
  reads: ['tables[]'],
  find: ({ tables }) =>
    tables.flatMap((entry, index): readonly Problem[] => {
      const given = Object.entries(entry.when ?? {});
      const path = `tables[${index}].when`;
      return [
        ...problemIf(entry.when !== undefined && given.length === 0, {
          path,
          message: 'has no condition',
          given: entry.when,
          allowed: `${SOURCE_ALLOWED}, each with the values that match; or no when, and the table takes all records`,
        }),
        ...given.flatMap(([name, each]) => conditionProblem(name, each, entry, `${path}.${name}`) ?? []),
      ];
    }),
};

const topicsOf = ({ topic }: ConditionedEntry): readonly string[] => [topic].flat();

const unmatchedHasConditions: Rule<ConditionedTables> = {
  reads: ['tables[]'],
  find: ({ tables }) =>
    tables.flatMap(({ when, unmatched }, index) =>
      problemIf(unmatched !== undefined && when === undefined, {
        path: `tables[${index}].unmatched`,
        message: 'is set without when: the table takes all records of its topics',
        given: unmatched,
        allowed: 'nothing here; or when beside it',
      }),
    ),
};

/** As much of the section `kafka` as says which topics go to `records`. */
interface RecordTopics {
  readonly kafka: { readonly topics: readonly string[] };
}

const unmatchedMayBe: Rule<ConditionedTables & RecordTopics> = {
  reads: ['tables', 'kafka.topics'],
  find: ({ tables, kafka }) =>
    tables.flatMap((entry, index) =>
      topicsOf(entry).flatMap((topic): readonly Problem[] => {
        const whole = tables.findIndex((other) => other.when === undefined && topicsOf(other).includes(topic));
        const taker = kafka.topics.includes(topic) ? 'kafka.topics' : `tables[${whole}]`;
        return problemIf(
          entry.when !== undefined && entry.unmatched !== undefined && (taker === 'kafka.topics' || whole >= 0),
          {
            path: `tables[${index}].unmatched`,
            message: `never comes to pass for the topic ${topic}: ${taker} takes all of its records`,
            given: entry.unmatched,
            allowed: `nothing here; or no ${taker} for this topic`,
          },
        );
      }),
    ),
};

const oneOfTopic: Rule<ConditionedTables> = {
  reads: ['tables'],
  find: ({ tables }) => {
    const firsts = new Map<string, number>();
    return tables.flatMap((entry, index) =>
      topicsOf(entry).flatMap((topic): readonly Problem[] => {
        if (entry.unmatched === undefined) {
          return [];
        }
        const first = firsts.get(topic) ?? index;
        firsts.set(topic, first);
        return problemIf(tables[first]?.unmatched !== entry.unmatched, {
          path: `tables[${index}].unmatched`,
          message: `is another one for the topic ${topic} than that of tables[${first}]`,
          given: entry.unmatched,
          allowed: 'the same in all entries of a topic, or in one of them',
        });
      }),
    );
  },
};

/** What the schema cannot say of the records that tables take. */
export const CONDITION_RULES: readonly Rule<ConditionedTables & RecordTopics>[] = [
  conditionsAreRight,
  unmatchedHasConditions,
  unmatchedMayBe,
  oneOfTopic,
];
