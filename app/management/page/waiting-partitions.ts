import { explainedText } from '../../logging/error-text.ts';
import { type Awaited, oldestSchemaWait, type PartitionReport } from '../../stream/partition/consumer-state.ts';
import type { PageFacts, Wait } from './facts.ts';

/** A list of partitions as people write it: `orders/0, orders/1 and 3 more`. */
function partitionsText(partitions: readonly PartitionReport[]): string {
  const most = 5;
  const names = partitions.slice(0, most).map(({ topic, partition }) => `${topic}/${partition}`);
  return `${names.join(', ')}${partitions.length > most ? ` and ${partitions.length - most} more` : ''}`;
}

const oldest = (dates: readonly Date[]): Date | null =>
  dates.reduce<Date | null>((first, date) => (first === null || date < first ? date : first), null);

/** What went wrong last, where something did. */
export const lastErrorOf = ({ report: { lastError } }: PageFacts): Pick<Wait, 'why'> =>
  lastError === null ? {} : { why: explainedText(lastError) };

/** One entry for all partitions that match; none where no one does. */
function ofPartitions(
  { report }: PageFacts,
  since: (owned: PartitionReport) => Date | undefined,
  wait: (partitions: string) => Omit<Wait, 'since'>,
): readonly Wait[] {
  const found = report.partitions.filter((owned) => since(owned) !== undefined);
  const dates = found.flatMap((owned) => since(owned) ?? []);
  return found.length === 0 ? [] : [{ ...wait(partitionsText(found)), since: oldest(dates) }];
}

/** Batches that wait for the schema registry, by the error. */
export function missingSchemas({ report }: PageFacts): readonly Wait[] {
  const waiting = report.partitions.filter(({ schemasAwaited }) => (schemasAwaited?.reason ?? null) !== null);
  const reasons = new Set(waiting.map(({ schemasAwaited }) => schemasAwaited?.reason ?? ''));
  return [...reasons].map((reason) => {
    const same = waiting.filter(({ schemasAwaited }) => schemasAwaited?.reason === reason);
    return {
      what: `${partitionsText(same)}: a batch waits for a schema of the registry`,
      since: oldestSchemaWait(same),
      why: explainedText(reason),
      mend: 'Bring the registry back, or mend what the error names: the batch goes on by itself.',
      page: 'runbooks/SchemaRegistryAway.md',
    };
  });
}

/** Batches that a partition cannot get past. */
export function unreadableBatches({ report }: PageFacts): readonly Wait[] {
  return report.partitions.flatMap(({ topic, partition, unreadable }) =>
    unreadable === undefined
      ? []
      : [
          {
            what: `${topic}/${partition} stops in front of offset ${unreadable.offset}: ${unreadable.code}`,
            why: unreadable.reason,
            mend:
              unreadable.code === 'TOPIC_FORBIDDEN'
                ? "Allow the consumer's user Read on the topic: it goes on within 10 s."
                : 'The batch is read again every 10 s. Another replica may have it whole; consumer.onBrokenBatch: skip gives it up.',
            page: 'runbooks/PartitionUnreadable.md',
          },
        ],
  );
}

/** Partitions that no broker leads. */
export function leaderless(facts: PageFacts): readonly Wait[] {
  return ofPartitions(
    facts,
    ({ leaderlessSince }) => leaderlessSince,
    (partitions) => ({
      what: `No broker leads ${partitions}`,
      mend: 'Bring a broker back that has a replica in sync: the consumer reads on without a restart.',
      page: 'runbooks/PartitionLeaderless.md',
    }),
  );
}

/** Partitions of which nothing is written, for a reason that no other entry has. */
export function stalled(facts: PageFacts): readonly Wait[] {
  return ofPartitions(
    facts,
    ({ stalledSince, schemasAwaited, unreadable, leaderlessSince }) =>
      schemasAwaited?.reason || unreadable || leaderlessSince ? undefined : stalledSince,
    (partitions) => ({
      what: `Nothing was written of ${partitions}`,
      ...lastErrorOf(facts),
      mend: 'Mend what the error names: a lock, a refused write, or brokers that do not report the end of the log.',
      page: 'runbooks/HealthCheckFailing.md#partitions-that-stall',
    }),
  );
}

const AWAITED: Readonly<Record<Awaited, string>> = {
  'stored offset': 'PostgreSQL has to return where to read on.',
  'log end': 'The brokers have to report the end of the log.',
  'next offset in the log':
    'The log ends below the offset that PostgreSQL expects, or begins above it. It is over after 30 s, or the process exits with the reason.',
};

/** Partitions of which something has to be known first. */
export function awaiting({ report }: PageFacts): readonly Wait[] {
  return (Object.keys(AWAITED) as Awaited[]).flatMap((awaited) => {
    const partitions = report.partitions.filter(({ awaits }) => awaits === awaited);
    return partitions.length === 0
      ? []
      : [
          {
            what: `${partitionsText(partitions)}: waits for the ${awaited}`,
            mend: AWAITED[awaited],
            page: 'runbooks/HealthCheckFailing.md',
          },
        ];
  });
}
