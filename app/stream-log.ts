import type { Logger } from './logger.ts';
import type { StreamListener } from './stream/stream-listener.ts';

/** Writes what the pipeline does to the log: outages and fencing as warnings, transactions only at debug. */
export function streamLog(logger: Logger): StreamListener {
  return {
    onCommitted: ({ topic, partition, records, deadLetters, nextOffset }) => {
      const position = { topic, partition, nextOffset: nextOffset.toString() };
      logger.debug({ ...position, records }, 'committed');
      if (deadLetters.size > 0) {
        logger.warn({ ...position, reasons: Object.fromEntries(deadLetters) }, 'records became dead letters');
      }
    },
    onFenced: ({ topic, partition }) =>
      logger.warn(
        { topic, partition },
        'another writer moved the offset: nothing was written, reading the position again',
      ),
    onSkipped: ({ topic, partition, expectedOffset, nextOffset }) =>
      logger.error(
        { topic, partition, from: expectedOffset.toString(), nextOffset: nextOffset.toString() },
        'offsets were deleted before they were read: skipped, and recorded in the table gaps',
      ),
    onFailed: ({ topic, partition }, error) =>
      logger.warn({ topic, partition, reason: error.message }, 'the write failed and is tried again'),
    onRetry: () => undefined,
    onPaused: () => undefined,
  };
}

/** One listener that tells all of them, in order. */
export function tellAll(listeners: readonly StreamListener[]): StreamListener {
  return {
    onCommitted: (batch) => {
      for (const listener of listeners) listener.onCommitted(batch);
    },
    onFenced: (partition) => {
      for (const listener of listeners) listener.onFenced(partition);
    },
    onSkipped: (gap) => {
      for (const listener of listeners) listener.onSkipped(gap);
    },
    onFailed: (partition, error) => {
      for (const listener of listeners) listener.onFailed(partition, error);
    },
    onRetry: () => {
      for (const listener of listeners) listener.onRetry();
    },
    onPaused: (isPaused) => {
      for (const listener of listeners) listener.onPaused(isPaused);
    },
  };
}
