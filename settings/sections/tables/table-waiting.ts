import { type Static, Type } from 'typebox';
import type { Rule } from '../../schema/check.ts';
import { type Problem, problemIf } from '../../schema/problem.ts';
import { isTemplate } from './topic-template.ts';

/** What an entry of `tables` says of topics that its templates take, and whose records its tables cannot have. */
export const WAITING_PROPERTIES = {
  missing: Type.Optional(
    Type.Enum(['wait', 'ignore'], {
      description:
        'Topics of a template whose table does not exist: they wait for it, with the alert TopicWaits, or without it, as nobody wants them. Left out: wait.',
    }),
  ),
  unmapped: Type.Optional(
    Type.Enum(['log', 'wait'], {
      description:
        'What becomes of a topic of a template whose records have a field that no column takes: the field is logged and counted, or the topic waits for the column. Left out: log.',
    }),
  ),
};

/** As much of an entry as waiting is about. */
interface WaitingEntry {
  readonly topic: string | readonly string[];
  readonly missing?: Static<(typeof WAITING_PROPERTIES)['missing']>;
  readonly unmapped?: Static<(typeof WAITING_PROPERTIES)['unmapped']>;
}

/** What an entry comes to. */
export interface TableWaiting {
  /** Whether nobody wants a table that does not exist. Left out: its topics need attention. */
  readonly isUnwantedWhileMissing?: true;
  /** Whether topics wait for a column of each field. Left out: a field without one is logged. */
  readonly waitsForColumns?: true;
}

export const waitingOf = ({ missing, unmapped }: WaitingEntry): TableWaiting => ({
  ...(missing === 'ignore' && { isUnwantedWhileMissing: true }),
  ...(unmapped === 'wait' && { waitsForColumns: true }),
});

/** A topic that is named ends the consumer, and does not wait. */
const waitingHasTemplate: Rule<{ readonly tables: readonly WaitingEntry[] }> = {
  reads: ['tables[]'],
  find: ({ tables }) =>
    tables.flatMap(({ topic, ...entry }, index) =>
      (['missing', 'unmapped'] as const).flatMap((name): readonly Problem[] =>
        problemIf(entry[name] !== undefined && ![topic].flat().some(isTemplate), {
          path: `tables[${index}].${name}`,
          message: 'is about topics that a template takes, and topic names each',
          given: entry[name],
          allowed: 'nothing here; or a template in topic, such as shop.{schema}.{table}',
        }),
      ),
    ),
};

export const WAITING_RULES: readonly Rule<{ readonly tables: readonly WaitingEntry[] }>[] = [waitingHasTemplate];
