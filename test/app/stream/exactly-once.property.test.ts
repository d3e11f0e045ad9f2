import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { aBatch, PARTITION } from './records.ts';
import { type Ending, SimulatedSink } from './simulated-sink.ts';
import { answerAll, assignAnew, settle, setUp } from './simulation.ts';

const END = 40n;

/** One partition, its table, and the consumer that owns it at the moment. */
class World {
  readonly sink = new SimulatedSink();
  consumer = setUp(END, this.sink);
  readonly fatal = [this.consumer.fatal];
  #isDraining = false;
  #isOwned = false;

  assign(): void {
    this.#isOwned = true;
    assignAnew(this.consumer.pipeline, [PARTITION]);
  }

  /** A generation that moves nothing. */
  keep(): void {
    const owned = this.#isOwned ? [PARTITION] : [];
    this.consumer.pipeline.onAssigned({ added: [], owned });
  }

  /** The group took the partition away, or may have: the source fetches no more of it. */
  revoke(): void {
    this.#isOwned = false;
    this.consumer.source.pause();
    void this.consumer.pipeline.onRevoked([PARTITION]);
  }

  /** The stored offset was seen to have gone back. */
  reopen(): void {
    this.consumer.pipeline.reopen();
  }

  /** The next batch as Kafka would deliver it. */
  fetch(length: number): void {
    const batch = this.consumer.source.fetch(length);
    if (batch) {
      this.consumer.pipeline.onFetched(batch);
    }
  }

  /** A batch of an earlier fetch, from anywhere. */
  fetchAstray(from: bigint): void {
    const to = from + 12n;
    this.consumer.pipeline.onFetched(aBatch(from, to < END ? to : END));
  }

  /** Another process that still believes to own the partition writes what is next. */
  writeAsZombie(length: number): void {
    const expectedOffset = this.sink.stored;
    const to = expectedOffset + BigInt(length);
    const { records, nextOffset } = aBatch(expectedOffset, to < END ? to : END);
    void this.sink.write({ ...PARTITION, expectedOffset, nextOffset, records }).catch(() => undefined);
  }

  /** The process dies; its transactions under way may still end in either way. */
  crash(): void {
    this.consumer = setUp(END, this.sink);
    this.fatal.push(this.consumer.fatal);
    this.#isDraining = false;
    this.assign();
  }

  /** A signal arrived: nothing is taken in any more, the queue may still be written. The next process follows later. */
  drain(): void {
    this.#isDraining = true;
    void this.consumer.pipeline.drain();
  }

  /** The broker says that it does not hold the position, although it does: a stale answer. */
  loseRange(): void {
    this.consumer.pipeline.onOutOfRange(PARTITION);
  }

  /** The next batch cannot be read, this time: the source pauses the partition, as for each such batch. */
  damage(): void {
    const { source, pipeline } = this.consumer;
    source.pause();
    pipeline.onUnreadable({ ...PARTITION, offset: source.fetchFrom, code: 'CORRUPT_BATCH', reason: 'its CRC-32C' });
  }

  endTransaction(how: Ending): void {
    this.sink.pending.shift()?.(how);
  }

  /** No more trouble: everything that is left gets written. */
  async calmDown(): Promise<void> {
    if (this.#isDraining) {
      this.crash();
    }
    if (!this.#isOwned) {
      this.assign();
    }
    for (let round = 0; round < 100 && this.sink.stored < END; round += 1) {
      await answerAll(this.sink);
      this.fetch(7);
    }
    await answerAll(this.sink);
  }
}

type Step = (world: World) => void;

const length = fc.integer({ min: 1, max: 9 });
const ending = fc.constantFrom<Ending>('answered', 'cut before', 'cut after', 'locked');
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: length.map(
      (records): Step =>
        (world) =>
          world.fetch(records),
    ),
  },
  {
    weight: 6,
    arbitrary: ending.map(
      (how): Step =>
        (world) =>
          world.endTransaction(how),
    ),
  },
  {
    weight: 2,
    arbitrary: length.map(
      (records): Step =>
        (world) =>
          world.writeAsZombie(records),
    ),
  },
  { weight: 2, arbitrary: fc.constant<Step>((world) => world.assign()) },
  { weight: 2, arbitrary: fc.constant<Step>((world) => world.keep()) },
  { weight: 1, arbitrary: fc.constant<Step>((world) => world.revoke()) },
  { weight: 1, arbitrary: fc.constant<Step>((world) => world.reopen()) },
  {
    weight: 1,
    arbitrary: fc.bigInt({ min: 0n, max: END - 2n }).map(
      (from): Step =>
        (world) =>
          world.fetchAstray(from),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Step>((world) => world.loseRange()) },
  { weight: 1, arbitrary: fc.constant<Step>((world) => world.damage()) },
  { weight: 1, arbitrary: fc.constant<Step>((world) => world.crash()) },
  { weight: 2, arbitrary: fc.constant<Step>((world) => world.drain()) },
);

const upTo = (end: bigint): bigint[] => [...Array(Number(end)).keys()].map(BigInt);

test('whatever is fetched, cut, fenced, kept, revoked, assigned again, drained or crashed, each record is written once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const world = new World();
      world.assign();
      for (const act of steps) {
        await settle();
        act(world);
        expect(world.sink.rows).toEqual(upTo(world.sink.stored));
      }
      await world.calmDown();
      expect(world.sink.rows).toEqual(upTo(END));
      expect(world.fatal.flat()).toEqual([]);
      expect(world.consumer.memory.held).toBe(0);
    }),
    { numRuns: 200 },
  );
});
