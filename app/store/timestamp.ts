/** Milliseconds from 1970 to 2000-01-01, where PostgreSQL's timestamps begin to count. */
const POSTGRES_EPOCH_MS = 946_684_800_000n;

/** 4713 BC and 294277 AD: MIN_TIMESTAMP and END_TIMESTAMP of PostgreSQL's datatype/timestamp.h, in milliseconds since 1970. */
const FIRST_MS = -210_866_803_200_000n;
const END_MS = 9_224_318_016_000_000n;

/** Kafka's word for "no timestamp". */
const NO_TIMESTAMP = -1n;

/** Whether a timestamptz can hold a record's timestamp; one that is not given can be NULL. */
export const fitsTimestamp = (milliseconds: bigint): boolean => milliseconds >= FIRST_MS && milliseconds < END_MS;

/** A record's timestamp for PostgreSQL, in microseconds since 2000; `null` when there is none, or none that fits. */
export function postgresTimestamp(milliseconds: bigint): bigint | null {
  if (milliseconds === NO_TIMESTAMP || !fitsTimestamp(milliseconds)) {
    return null;
  }
  return (milliseconds - POSTGRES_EPOCH_MS) * 1_000n;
}
