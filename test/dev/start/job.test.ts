import { describe, expect, test } from '@jest/globals';
import { runNames } from '../../../dev/start/job.ts';
import { readOptions } from '../../../dev/start/options.ts';
import { replicaNames } from '../../../dev/start/replica-job.ts';
import { tableNames } from '../../../dev/start/table-job.ts';

function optionsOf(...args: readonly string[]) {
  const read = readOptions(args);
  if (read.kind !== 'options') {
    throw new Error(JSON.stringify(read));
  }
  return read.options;
}

const namesFor = (...args: readonly string[]) => runNames(optionsOf(...args), 'ab12');

describe('the names of a run', () => {
  test('are plain where Kafka and PostgreSQL are its own', () => {
    expect(namesFor()).toEqual({ topic: 'orders', group: 'stream-consumer', schema: 'stream_consumer' });
  });

  test('are unique at a Kafka that was there before', () => {
    expect(namesFor('--kafka', 'h:1')).toEqual({
      topic: 'orders-ab12',
      group: 'stream-consumer-ab12',
      schema: 'stream_consumer',
    });
  });

  test('are unique in a database that was there before', () => {
    expect(namesFor('--database', 'postgres://h/d')).toEqual({
      topic: 'orders',
      group: 'stream-consumer-ab12',
      schema: 'stream_consumer_ab12',
    });
  });

  test('are those that were asked for', () => {
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

describe("the names of the tables' schema and of the customers' topic", () => {
  test.each<[readonly string[], ReturnType<typeof tableNames>]>([
    [[], { schema: 'public', topic: 'customers' }],
    [['--kafka', 'h:1'], { schema: 'public', topic: 'customers-ab12' }],
    [['--database', 'postgres://h/d'], { schema: 'sample_ab12', topic: 'customers' }],
    [['--topic', 't', '--schema', 's'], { schema: 'public', topic: 'customers' }],
  ])('are unique where the servers were there before: %j', (args, names) => {
    expect(tableNames(optionsOf(...args), 'ab12')).toEqual(names);
  });
});

describe("the names of the replica's schema, and what the topics of its source begin with", () => {
  test.each<[readonly string[], ReturnType<typeof replicaNames>]>([
    [[], { schema: 'replica', prefix: 'shop' }],
    [['--kafka', 'h:1'], { schema: 'replica', prefix: 'shop-ab12' }],
    [['--database', 'postgres://h/d'], { schema: 'replica_ab12', prefix: 'shop' }],
  ])('are unique where the servers were there before: %j', (args, names) => {
    expect(replicaNames(optionsOf('--cdc', ...args), 'ab12')).toEqual(names);
  });
});
