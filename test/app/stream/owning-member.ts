import { PARTITION } from './records.ts';
import { SimulatedSink } from './simulated-sink.ts';
import { assignAnew, settle, setUp } from './simulation.ts';

export const KEPT = PARTITION;
export const OTHER = { topic: 'payments', partition: 0 };
export const THIRD = { topic: 'refunds', partition: 0 };
export const ALL = [KEPT, OTHER, THIRD];

/** A member that owns a partition, whose position was read. */
export async function aMember(
  owned = [KEPT],
  more: Parameters<typeof setUp>[3] = {},
): Promise<ReturnType<typeof setUp>> {
  const parts = setUp(100n, new SimulatedSink(ALL), 'fail', more);
  assignAnew(parts.pipeline, owned);
  await settle();
  parts.source.told.length = 0;
  return parts;
}
