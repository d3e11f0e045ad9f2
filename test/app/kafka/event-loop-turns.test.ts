import { createRequire } from 'node:module';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { EventLoopTurns } from '../../../app/kafka/event-loop-turns.ts';
import { loadKafkajs } from '../../../app/kafka/kafkajs/patches.ts';
import { BatchDecoder } from '../../../app/kafka/record-batch.ts';

const require = createRequire(import.meta.url);

async function afterATurn() {
  const clock = { now: 0 };
  const turns = new EventLoopTurns(() => clock.now);
  await turns.afterTurn();
  return { turns, clock };
}

test('work that was given a turn goes on within it', async () => {
  const { turns, clock } = await afterATurn();
  clock.now += 1.9;
  expect(turns.afterTurn()).toBeNull();
});

test('work that takes longer waits until others had theirs, and then has another one', async () => {
  const { turns, clock } = await afterATurn();
  const others = turn('had its turn');
  clock.now += 2;
  const waiting = turns.afterTurn();
  expect(waiting).not.toBeNull();
  expect(await Promise.race([others, waiting])).toBe('had its turn');
  await waiting;
  expect(turns.afterTurn()).toBeNull();
});

interface Encoded {
  readonly buffer: Buffer;
}

/** A batch of records as a fetch brings it; `size` records take a while to decode. */
async function aBatch(size: number): Promise<Encoded> {
  const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0/index.js') as {
    RecordBatch(options: object): Promise<Encoded>;
  };
  const encodeRecord = require('kafkajs/src/protocol/recordBatch/record/v0/index.js') as (record: object) => unknown;
  const records = Array.from({ length: size }, (_, offsetDelta) =>
    encodeRecord({ offsetDelta, timestampDelta: 0, key: null, value: Buffer.from('{}'), headers: [] }),
  );
  return RecordBatch({ firstTimestamp: 0, maxTimestamp: 0, lastOffsetDelta: size - 1, records });
}

test('a fetch of many batches is decoded over many turns of the event loop', async () => {
  loadKafkajs();
  const decoder = new BatchDecoder();
  const { buffer } = await aBatch(1_000);
  let turns = 0;
  let isDecoded = false;
  const others = (async () => {
    while (!isDecoded) {
      await turn();
      turns += 1;
    }
  })();
  for (let batch = 0; batch < 200; batch += 1) {
    await decoder.decode(buffer);
  }
  isDecoded = true;
  await others;
  expect(turns).toBeGreaterThan(5);
});
