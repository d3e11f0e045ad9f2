import { Type } from 'typebox';
import { duration } from './duration.ts';
import { section } from './schema.ts';

/** How the consumer reads, buffers and writes. */
export const consumer = Type.Object(
  {
    startFrom: Type.Enum(['earliest', 'latest', 'committed'], {
      default: 'earliest',
      description:
        "Where a topic without a stored position starts: its beginning, its end, or Kafka's committed offset (the beginning where there is none). Partitions added later always start at their beginning.",
    }),
    onGap: Type.Enum(['fail', 'skip'], {
      default: 'fail',
      description:
        'What to do when records were deleted before they were read: stop and say which, or record the gap in the table gaps and go on.',
    }),
    stallTimeout: duration(
      '5m',
      'Time without progress on a partition that has lag after which the health is DOWN. An outage of Kafka or PostgreSQL is not a stall.',
    ),
    maxValueBytes: Type.Integer({
      minimum: 1,
      maximum: 268_435_455,
      default: 8_388_608,
      description: 'Largest value that goes into records; a larger one is a dead letter.',
    }),
    maxQueuedBytes: Type.Integer({
      minimum: 65_536,
      maximum: 1_073_741_824,
      default: 2_097_152,
      description: 'Fetched bytes that may wait for PostgreSQL, per partition; beyond it the partition is paused.',
    }),
    maxBatchRecords: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 5_000,
      description: 'Records that one transaction writes at most.',
    }),
  },
  { ...section, description: 'How records are read and written.' },
);
