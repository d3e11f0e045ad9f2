import { type FormatsPart, registrySides } from '../../settings/sections/formats.ts';
import type { Records } from '../records/records.ts';
import type { StreamPorts } from '../stream/partition/stream-ports.ts';
import { OutageError } from '../stream/ports/stream-errors.ts';
import type { Side } from './parts/field-reader.ts';
import { isUsable, type Schemas } from './registry/schemas.ts';
import { NO_ID, schemaIdOf } from './wire-format.ts';

/** Ids of schemas that records cannot be decoded without, and that may be asked for. */
function missingIds(schemas: Pick<Schemas, 'of'>, records: Records, sides: readonly Side[]): ReadonlySet<number> {
  const missing = new Set<number>();
  for (const side of sides) {
    // Nearly all records of a topic have the same one.
    let before = NO_ID;
    records.forEach((record) => {
      const id = schemaIdOf(record, side);
      if (id !== NO_ID && id !== before) {
        const known = schemas.of(id);
        if (known === undefined || !isUsable(known)) {
          missing.add(id);
        }
      }
      before = id;
    });
  }
  return missing;
}

/** Resolves with the work, which goes on for the others that need it, or rejects when the signal is aborted. */
function unlessEnded(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () =>
      reject(new OutageError('the partition is left while its schemas are fetched', { reason: 'registry_away' }));
    if (signal.aborted) {
      onAbort();
    }
    signal.addEventListener('abort', onAbort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/**
 * Fetches the schemas of records before they are encoded, which never waits.
 *
 * @returns what a partition's stream calls before it writes
 */
export function schemasFirst(schemas: Schemas, settings: FormatsPart): NonNullable<StreamPorts['prepare']> {
  const sidesByTopic = new Map<string, readonly Side[]>();
  return ({ topic, records }, signal) => {
    const sides = sidesByTopic.get(topic) ?? registrySides(settings, topic);
    sidesByTopic.set(topic, sides);
    const missing = missingIds(schemas, records, sides);
    return missing.size === 0 ? undefined : unlessEnded(schemas.fetch(missing), signal);
  };
}
