import { describe, expect, it } from '@jest/globals';
import { runNames } from '../../../dev/start/job.ts';
import { readOptions } from '../../../dev/start/options.ts';

function namesFor(...args: readonly string[]) {
  const read = readOptions(args);
  if (read.kind !== 'options') {
    throw new Error(JSON.stringify(read));
  }
  return runNames(read.options, 'ab12');
}

describe('the names of a run', () => {
  it('are plain where Kafka and PostgreSQL are its own', () => {
    expect(namesFor()).toEqual({ topic: 'orders', group: 'stream-consumer', schema: 'stream_consumer' });
  });

  it('are unique at a Kafka that was there before', () => {
    expect(namesFor('--kafka', 'h:1')).toEqual({
      topic: 'orders-ab12',
      group: 'stream-consumer-ab12',
      schema: 'stream_consumer',
    });
  });

  it('are unique in a database that was there before', () => {
    expect(namesFor('--database', 'postgres://h/d')).toEqual({
      topic: 'orders',
      group: 'stream-consumer-ab12',
      schema: 'stream_consumer_ab12',
    });
  });

  it('are those that were asked for', () => {
    const asked = namesFor(
      '--kafka',
      'h:1',
      '--database',
      'postgres://h/d',
      '--topic',
      't',
      '--group',
      'g',
      '--schema',
      's',
    );
    expect(asked).toEqual({ topic: 't', group: 'g', schema: 's' });
  });
});
